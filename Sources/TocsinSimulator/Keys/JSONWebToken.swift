import Encodings
import JSON

/// A JSON Web Token in its compact form (RFC 7519), as far as APNs and Google read it.
struct JSONWebToken {
    let header: JSONValue
    let claims: JSONValue
    private let signed: [UInt8]
    private let signature: [UInt8]

    /// Longest token looked at.
    private static let maximumBytes = 8192

    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.maximumBytes, parts.count == 3,
            let headerBytes = Base64URL.decoded(parts[0]), let claimBytes = Base64URL.decoded(parts[1]),
            let signature = Base64URL.decoded(parts[2]),
            let header = try? JSONParser.parse(headerBytes), let claims = try? JSONParser.parse(claimBytes),
            header.objectValue != nil, claims.objectValue != nil
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        signed = Array("\(parts[0]).\(parts[1])".utf8)
    }

    /// Whether the token is signed with ES256 by the key.
    func isES256(by key: KeyPair) -> Bool {
        guard header["alg"]?.stringValue == "ES256", let der = ECDSASignature.der(fromRaw: signature) else {
            return false
        }
        return key.verifies(der, of: signed)
    }

    /// Whether the token is signed with RS256 by the key.
    func isRS256(by key: KeyPair) -> Bool {
        header["alg"]?.stringValue == "RS256" && key.verifies(signature, of: signed)
    }

    static func makeES256(header: JSONValue, claims: JSONValue, key: KeyPair) throws(SimulatorError) -> String {
        let body = Base64URL.encoded(header.serialized()) + "." + Base64URL.encoded(claims.serialized())
        guard let raw = ECDSASignature.raw(fromDER: try key.signature(of: Array(body.utf8))) else {
            throw SimulatorError.keys(reason: "a signature was not of P-256")
        }
        return body + "." + Base64URL.encoded(raw)
    }

    static func makeRS256(header: JSONValue, claims: JSONValue, key: KeyPair) throws(SimulatorError) -> String {
        let body = Base64URL.encoded(header.serialized()) + "." + Base64URL.encoded(claims.serialized())
        return body + "." + Base64URL.encoded(try key.signature(of: Array(body.utf8)))
    }
}
