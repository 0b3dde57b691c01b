/// Documents known before the first request: the ones an application's clients were built with.
public struct TrustedDocuments: Sendable {
    private var byDigest: [DocumentDigest: DocumentText] = [:]
    private var byIdentifier: [String: DocumentText] = [:]
    private var texts: Set<DocumentText> = []

    /// No documents.
    public init() {}

    /// How many different documents there are.
    public var count: Int { texts.count }

    /// Adds a document under the hash of its text and, if it has one, under a name of its own.
    ///
    /// `false`, and nothing is added, when the name stands for another document already.
    public mutating func add(_ text: String, digest: DocumentDigest, identifier: String? = nil) -> Bool {
        let document = DocumentText(text)
        if let identifier {
            guard byIdentifier[identifier, default: document] == document else { return false }
            byIdentifier[identifier] = document
        }
        byDigest[digest] = document
        texts.insert(document)
        return true
    }

    /// The document whose text has this hash.
    public func document(_ digest: DocumentDigest) -> DocumentText? { byDigest[digest] }

    /// The document of this name.
    public func document(identifier: String) -> DocumentText? { byIdentifier[identifier] }

    /// Whether a document with exactly these bytes is known.
    public func contains(_ document: DocumentText) -> Bool { texts.contains(document) }
}
