import Encodings
import JSON

/// A token taken apart (RFC 7515 §3.1), with nothing believed yet.
struct CompactToken {
    /// Longer bearer tokens are not looked at.
    static let maximumBytes = 8 * 1024
    private static let maximumValues = 500

    let algorithm: String
    let keyID: String?
    let claims: JSONObject
    let signature: [UInt8]
    /// What was signed: the first two parts with the dot between them.
    let signedBytes: [UInt8]

    /// Throws `malformed` for what is not three parts of base 64 with two JSON objects, and
    /// `notAuthorized` for a header that asks to be believed in a way that is not offered.
    init(
        _ text: String,
        maximumBytes: Int = maximumBytes,
        maximumValues: Int = maximumValues
    ) throws(TokenProblem) {
        let bytes = Array(text.utf8)
        guard bytes.count <= maximumBytes else { throw .malformed }
        let limits = JSONLimits(
            maximumBytes: maximumBytes,
            maximumDepth: 8,
            maximumValues: maximumValues,
            maximumNumberLength: 32
        )
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = Base64URL.decoded(parts[2]) else { throw .malformed }
        let header = try Self.object(parts[0], limits)
        claims = try Self.object(parts[1], limits)
        guard let algorithm = header["alg"]?.stringValue else { throw .malformed }
        self.algorithm = algorithm
        switch header["kid"] {
        case nil: keyID = nil
        case .string(let id)?: keyID = id
        default: throw .malformed
        }
        self.signature = signature
        signedBytes = Array(bytes[..<parts[1].endIndex])
        guard !Self.refusedMembers.contains(where: { header[$0] != nil }) else { throw .notAuthorized }
    }

    /// Members with which a token would choose its own key, and extensions, of
    /// which none is known here.
    private static let refusedMembers = ["jku", "jwk", "x5u", "x5c", "crit", "b64", "zip"]

    private static func object(_ part: ArraySlice<UInt8>, _ limits: JSONLimits) throws(TokenProblem) -> JSONObject {
        guard let bytes = Base64URL.decoded(part), let object = StrictJSON.object(bytes, limits: limits) else {
            throw .malformed
        }
        return object
    }
}

/// Why a token is not believed.
enum TokenProblem: Error, Sendable, Hashable {
    case malformed
    case expired
    case revoked
    case notAuthorized
    /// The keys or the store cannot be read just now.
    case unavailable(reason: String)
}
