import JSON
import TocsinCore

/// Makes signed JSON web tokens (RFC 7515 §3.1, compact form).
enum WebToken {
    /// A token of these claims; `keyID` becomes `kid`.
    static func make(claims: JSONObject, keyID: String?, signer: any Signer) throws(KeyError) -> String {
        var header: JSONObject = ["alg": .string(signer.algorithm), "typ": "JWT"]
        if let keyID { header["kid"] = .string(keyID) }
        let signed =
            base64URL(JSONValue.object(header).serialized()) + "." + base64URL(JSONValue.object(claims).serialized())
        return signed + "." + base64URL(try signer.signature(for: Array(signed.utf8)))
    }

    /// Base 64 with `-` and `_`, without padding (RFC 4648 §5).
    static func base64URL(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for index in 0...group.count {
                text.append(alphabet[Int(bits >> UInt32(18 - 6 * index) & 0x3F)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
