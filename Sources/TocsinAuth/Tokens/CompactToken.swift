import Encodings
import JSON

/// A token taken apart (RFC 7515 §3.1), with nothing believed yet.
struct CompactToken {
    /// Longer tokens are not looked at.
    static let maximumBytes = 8 * 1024

    let algorithm: String
    let keyID: String?
    let claims: JSONObject
    let signature: [UInt8]
    /// What was signed: the first two parts with the dot between them.
    let signedBytes: [UInt8]

    /// Throws `malformed` for what is not three parts of base 64 with two JSON objects, and
    /// `notAuthorized` for a header that asks to be believed in a way that is not offered.
    init(_ text: String) throws(TokenProblem) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumBytes else { throw .malformed }
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = Base64URL.decoded(parts[2]) else { throw .malformed }
        let header = try Self.object(parts[0])
        claims = try Self.object(parts[1])
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

    private static let limits = JSONLimits(
        maximumBytes: maximumBytes,
        maximumDepth: 8,
        maximumValues: 500,
        maximumNumberLength: 32
    )

    private static func object(_ part: ArraySlice<UInt8>) throws(TokenProblem) -> JSONObject {
        guard let bytes = Base64URL.decoded(part) else { throw .malformed }
        guard let value = parsed(bytes), let object = value.objectValue,
            memberCount(of: value) == memberCount(in: bytes)
        else { throw .malformed }
        return object
    }

    private static func parsed(_ bytes: [UInt8]) -> JSONValue? {
        do throws(JSONError) {
            return try JSONParser.parse(bytes, limits: limits)
        } catch {
            // What is wrong inside a token is nobody's business but its maker's.
            return nil
        }
    }

    /// How many members the text writes: its colons outside strings.
    ///
    /// The parser keeps one member of each name, so that a member written twice shows as a
    /// difference from the value's count.
    private static func memberCount(in text: [UInt8]) -> Int {
        var count = 0
        var isInString = false
        var index = 0
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\\"): index += 1
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: ":") where !isInString: count += 1
            default: break
            }
            index += 1
        }
        return count
    }

    private static func memberCount(of value: JSONValue) -> Int {
        switch value {
        case .object(let object): object.count + object.values.reduce(0) { $0 + memberCount(of: $1) }
        case .array(let values): values.reduce(0) { $0 + memberCount(of: $1) }
        default: 0
        }
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
