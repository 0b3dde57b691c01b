import GraphQL
import GraphQLTransport

/// How a request names its document instead of, or beside, sending it.
enum DocumentReference: Hashable {
    /// The SHA-256 of its text.
    case digest(DocumentDigest)
    /// A name that an operator gave it.
    case identifier(String)

    /// Reads `extensions.persistedQuery` (Apollo) and `documentId` (GraphQL over HTTP,
    /// appendix "Persisted Documents").
    init?(_ request: GraphQLRequest) throws(RequestErrors) {
        let persisted: PersistedQueryReference?
        do {
            persisted = try PersistedQueryReference(extensions: request.extensions)
        } catch {
            throw RequestDocuments.refusal(.badUserInput, error.message)
        }
        if let persisted, persisted.digest == nil { throw RequestDocuments.notSupported }
        let byHash = persisted?.digest.map(DocumentReference.digest)
        let byName = request.documentID.map(Self.named)
        guard let reference = byName ?? byHash else { return nil }
        if let byHash, byHash != reference {
            throw RequestDocuments.refusal(
                .badUserInput,
                "\"documentId\" and \"extensions.persistedQuery\" name different documents. Send one of them."
            )
        }
        self = reference
    }

    private static func named(_ identifier: String) -> DocumentReference {
        guard identifier.hasPrefix("sha256:"), let digest = DocumentDigest(hex: identifier.dropFirst(7)) else {
            return .identifier(identifier)
        }
        return .digest(digest)
    }
}
