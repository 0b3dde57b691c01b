package import GraphQL
import GraphQLTransport
import JSON

/// Which documents requests may run, by text or by name.
///
/// The one place where a request becomes the text of a document, whatever carried it here.
package struct RequestDocuments: Sendable {
    /// What the documents known before the first request are for.
    package enum TrustMode: String, Sendable, CaseIterable {
        /// Nothing: they are not looked at.
        case off
        /// They may be named instead of sent.
        case allow
        /// Nothing else is run.
        case only
    }

    private let hash: DocumentHash
    private let persisted: PersistedQueries?
    private let trusted: TrustedDocuments
    private let mode: TrustMode

    /// Serves these documents; without `persisted` clients cannot store any.
    package init(
        hash: @escaping DocumentHash,
        persisted: PersistedQueries?,
        trusted: TrustedDocuments = TrustedDocuments(),
        mode: TrustMode = .off
    ) {
        self.hash = hash
        self.persisted = persisted
        self.trusted = trusted
        self.mode = mode
    }

    /// The same with other documents known before the first request; what clients have stored
    /// stays.
    package func trusting(_ trusted: TrustedDocuments, mode: TrustMode) -> RequestDocuments {
        RequestDocuments(hash: hash, persisted: persisted, trusted: trusted, mode: mode)
    }

    /// Any text, and no names.
    package static let freeTexts = RequestDocuments(hash: { _ in [] }, persisted: nil)

    /// How many documents were known before the first request; 0 where they are not looked at.
    package var trustedCount: Int { mode == .off ? 0 : trusted.count }

    /// How many documents clients have stored.
    var storedCount: Int { persisted?.count ?? 0 }

    /// The document a request asks for, or why it is not served.
    func document(of request: GraphQLRequest) throws(RequestErrors) -> RequestedDocument {
        if mode == .off, request.documentID == nil, request.extensions.isEmpty {
            return RequestedDocument(text: DocumentText(request.query))
        }
        let reference = try DocumentReference(request)
        let text = request.query.isEmpty ? nil : DocumentText(request.query)
        if mode != .off, let known = trustedDocument(reference, text) {
            guard reference == nil || text == nil || text == known else { throw Self.mismatch }
            return RequestedDocument(text: known)
        }
        guard mode != .only else { throw untrusted(reference, text) }
        switch reference {
        case nil: return RequestedDocument(text: text ?? DocumentText(""))
        case .identifier?: throw persisted == nil ? Self.notSupported : Self.notFound
        case .digest(let digest)?: return try persistedDocument(digest, text)
        }
    }

    /// Lets clients name the document from now on; for documents that parsed and validated.
    func store(_ requested: RequestedDocument, owner: String) {
        guard let digest = requested.newDigest else { return }
        persisted?.store(requested.text, digest: digest, owner: owner)
    }

    private func trustedDocument(_ reference: DocumentReference?, _ text: DocumentText?) -> DocumentText? {
        switch reference {
        case .digest(let digest)?:
            return trusted.document(digest) ?? trusted.document(identifier: digest.description)
        case .identifier(let identifier)?: return trusted.document(identifier: identifier)
        case nil: return text.flatMap { trusted.contains($0) ? $0 : nil }
        }
    }

    private func persistedDocument(
        _ digest: DocumentDigest,
        _ text: DocumentText?
    ) throws(RequestErrors) -> RequestedDocument {
        guard let persisted else { throw Self.notSupported }
        let held = persisted.document(digest)
        guard let text else {
            guard let held else { throw Self.notFound }
            return RequestedDocument(text: held)
        }
        if held == text { return RequestedDocument(text: text) }
        guard self.digest(of: text) == digest else { throw Self.mismatch }
        return RequestedDocument(text: text, newDigest: digest)
    }

    private func digest(of document: DocumentText) -> DocumentDigest? {
        DocumentDigest(hash(Array(document.text.utf8)))
    }
}

/// A document to be run.
struct RequestedDocument {
    let text: DocumentText
    /// Its hash, where the document is to be stored once it has proved valid.
    var newDigest: DocumentDigest?
}

// What is refused.
extension RequestDocuments {
    // The messages are those that Apollo's clients look for.
    private static var notFound: RequestErrors { refusal(.persistedQueryNotFound, "PersistedQueryNotFound") }
    static var notSupported: RequestErrors { refusal(.persistedQueryNotSupported, "PersistedQueryNotSupported") }
    private static var mismatch: RequestErrors {
        refusal(
            .badUserInput,
            "The document's text is not the one that is named with it: provided sha does not match query. Send the "
                + "SHA-256 of exactly the bytes of \"query\", or one of the two alone."
        )
    }

    private func untrusted(_ reference: DocumentReference?, _ text: DocumentText?) -> RequestErrors {
        let name: String =
            switch reference {
            case .digest(let digest)?: "sha256:\(digest)"
            case .identifier(let identifier)?: "\"\(identifier)\""
            case nil: text.flatMap(digest).map { "sha256:\($0)" } ?? "without text and name"
            }
        return Self.refusal(
            .documentNotTrusted,
            "This server runs known documents only, and \(name) is none of them. Ask its operator to add the document."
        )
    }

    static func refusal(_ code: ErrorCode, _ message: String) -> RequestErrors {
        let error = GraphQLError(message, extensions: ["code": .string(code.rawValue)])
        return RequestErrors(kind: .operation, errors: [error])
    }
}
