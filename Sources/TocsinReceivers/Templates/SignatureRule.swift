import Encodings
import JSON

/// How a sender signs what it posts: the receiver's facts; the secret is the integration's.
package struct SignatureRule: Sendable, Equatable {
    /// How the header writes it.
    package enum Form: String, Sendable, CaseIterable {
        /// HMAC-SHA256 of the body, in hexadecimal digits.
        case hex
        /// The same in base 64.
        case base64
        /// No signature: the secret itself.
        case secret
    }

    /// The header.
    package let header: String
    /// What stands before the signature, such as `sha256=`.
    package let prefix: String
    /// How it is written.
    package let form: Form

    init(_ value: JSONValue) throws(TemplateProblem) {
        guard let members = value.objectValue, let header = members["header"]?.stringValue, !header.isEmpty,
            let form = (members["form"] ?? "hex").stringValue.flatMap(Form.init(rawValue:)),
            let prefix = (members["prefix"] ?? "").stringValue,
            members.keys.allSatisfy({ ["header", "prefix", "form"].contains($0) })
        else {
            throw TemplateProblem(
                "a signature is {\"header\": \"X-Signature\", \"prefix\": \"sha256=\", \"form\": \"hex\"}, with \"hex\", "
                    + "\"base64\" or \"secret\" as form"
            )
        }
        (self.header, self.prefix, self.form) = (header, prefix, form)
    }

    /// Whether a request is signed with this secret; all bytes are compared, wherever they differ.
    func accepts(
        _ request: ReceiverRequest,
        secret: [UInt8],
        hmacSHA256: (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]
    ) -> Bool {
        guard let written = request.header(header), written.hasPrefix(prefix) else { return false }
        let text = String(written.dropFirst(prefix.count))
        let given: [UInt8]?
        switch form {
        case .hex: given = HexText.bytes(of: text)
        case .base64: given = Base64URL.decodedPasted(text)
        case .secret: given = Array(text.utf8)
        }
        let wanted = form == .secret ? secret : hmacSHA256(secret, request.body)
        guard let given, given.count == wanted.count else { return false }
        return zip(given, wanted).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
