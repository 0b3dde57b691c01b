import Encodings
import JSON
import TocsinCore

/// Makes signed JSON web tokens (RFC 7515 §3.1, compact form).
enum WebToken {
    /// A token of these claims; `keyID` becomes `kid`.
    static func make(claims: JSONObject, keyID: String?, signer: any Signer) throws(KeyError) -> String {
        var header: JSONObject = ["alg": .string(signer.algorithm), "typ": "JWT"]
        if let keyID { header["kid"] = .string(keyID) }
        let signed =
            Base64URL.encoded(JSONValue.object(header).serialized()) + "."
            + Base64URL.encoded(JSONValue.object(claims).serialized())
        return signed + "." + Base64URL.encoded(try signer.signature(for: Array(signed.utf8)))
    }
}
