import Encodings
import JSON
package import TocsinCore

/// The public keys of a sign-in provider by their ids (RFC 7517).
///
/// Each key has one algorithm.
package struct KeySet: Sendable {
    /// Larger sets are refused.
    package static let maximumBytes = 256 * 1024
    private static let maximumKeys = 100

    private var keys: [String: PublicKey] = [:]
    private var nameless: PublicKey?

    /// Reads a set; keys of other kinds and uses are left out.
    ///
    /// Throws when no key is left.
    package init(json bytes: [UInt8]) throws(KeyError) {
        guard bytes.count <= Self.maximumBytes else {
            throw KeyError("The key set has \(bytes.count) bytes; at most \(Self.maximumBytes) are read.")
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONParser.parse(bytes)
        } catch {
            throw KeyError("The key set is not JSON: \(error).")
        }
        guard let members = value["keys"]?.arrayValue, members.count <= Self.maximumKeys else {
            throw KeyError("The key set has no member \"keys\" with at most \(Self.maximumKeys) keys (RFC 7517 §5).")
        }
        var reasons: [String] = []
        for member in members {
            do throws(KeyError) {
                add(try Self.key(member), id: member["kid"]?.stringValue)
            } catch {
                reasons.append(error.description)
            }
        }
        guard !keys.isEmpty || nameless != nil else {
            throw KeyError(
                "The key set has no RS256, PS256, ES256 or EdDSA key for signatures. "
                    + (reasons.first ?? "Its list of keys is empty.")
            )
        }
    }

    /// The key with this id; for a token without an id, the only key there is.
    package func key(id: String?) -> PublicKey? {
        if let id { return keys[id] }
        if keys.isEmpty { return nameless }
        return keys.count == 1 && nameless == nil ? keys.values.first : nil
    }

    /// The first of two keys with one id counts.
    private mutating func add(_ key: PublicKey, id: String?) {
        if let id {
            keys[id] = keys[id] ?? key
        } else {
            nameless = nameless ?? key
        }
    }

    private static func key(_ member: JSONValue) throws(KeyError) -> PublicKey {
        if let use = member["use"], use != .string("sig") { throw KeyError("A key is not for signatures.") }
        if let uses = member["key_ops"]?.arrayValue, !uses.contains(.string("verify")) {
            throw KeyError("A key is not for verifying.")
        }
        let key: PublicKey
        switch member["kty"]?.stringValue {
        case "RSA"?:
            key = try PublicKey(
                modulus: number("n", of: member),
                exponent: number("e", of: member),
                isForPSS: member["alg"] == .string(SignatureAlgorithm.ps256.rawValue)
            )
        case "EC"? where member["crv"] == .string("P-256"):
            key = try PublicKey(x: number("x", of: member), y: number("y", of: member))
        case "OKP"? where member["crv"] == "Ed25519": key = try PublicKey(ed25519: number("x", of: member))
        default: throw KeyError("A key is neither RSA, EC on P-256, nor Ed25519.")
        }
        if let name = member["alg"], !(name.stringValue.map(key.algorithm.isNamed) ?? false) {
            throw KeyError("A key is for another algorithm than \(key.algorithm.rawValue).")
        }
        return key
    }

    private static func number(_ name: String, of member: JSONValue) throws(KeyError) -> [UInt8] {
        guard let text = member[name]?.stringValue, let bytes = Base64URL.decoded(text), !bytes.isEmpty else {
            throw KeyError("A key's member \"\(name)\" is not base 64 for URLs.")
        }
        return bytes
    }
}
