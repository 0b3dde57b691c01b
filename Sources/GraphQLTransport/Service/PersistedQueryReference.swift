public import GraphQL
public import JSON

/// The document a request names by its hash, in Apollo's way: `extensions.persistedQuery`.
public struct PersistedQueryReference: Sendable, Hashable {
    /// The version of the protocol the client speaks; there is only 1.
    public let version: Int64
    /// The SHA-256 of the document's text; `nil` when the version is not 1, whose
    /// hash has no meaning here.
    public let digest: DocumentDigest?

    /// Reads `{"persistedQuery": {"version": 1, "sha256Hash": "<64 hexadecimal digits>"}}`;
    /// `nil` when it is not there.
    public init?(extensions: JSONObject) throws(RequestFault) {
        guard let value = extensions["persistedQuery"], !value.isNull else { return nil }
        guard case .object(let members) = value, let version = members["version"]?.intValue else {
            throw RequestFault(
                "\"extensions.persistedQuery\" is not as expected. Send {\"version\": 1, \"sha256Hash\": \"…\"}."
            )
        }
        self.version = version
        guard version == 1 else {
            digest = nil
            return
        }
        guard let digest = members["sha256Hash"]?.stringValue.flatMap({ DocumentDigest(hex: $0) }) else {
            throw RequestFault(
                "\"extensions.persistedQuery.sha256Hash\" is no SHA-256. Send the 64 hexadecimal digits of the hash of the "
                    + "document's text."
            )
        }
        self.digest = digest
    }
}
