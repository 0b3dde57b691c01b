/// What the server asks for when a button of a message is pressed.
///
/// A message has it sealed, beside the push that readers never see: addresses and headers often
/// hold secrets of who publishes.
package struct ButtonCall: Sendable, Equatable {
    /// The request.
    package var call: SenderEvent.Call
    /// What stands on the button.
    package var title: String
    /// The integration that it came by, which must still allow it when the button is pressed.
    package var integrationID: String

    /// The member of a message's `push` that has the sealed calls by the ids of their buttons.
    package static let member = "calls"
    /// Methods that a button may have.
    package static let methods: Set<String> = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    /// The most headers.
    package static let maximumHeaders = 16
    /// The longest headers together, names counted, in bytes.
    package static let maximumHeaderBytes = 4096
    /// The longest body, in bytes.
    package static let maximumBodyBytes = 4096
    /// Fields that belong to the connection and to this server: who could set them could smuggle
    /// requests, or speak for another host.
    private static let reserved: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "expect",
        "proxy-authorization", "proxy-connection",
    ]

    /// A call of these parts.
    package init(_ call: SenderEvent.Call, title: String, integrationID: String) {
        (self.call, self.title, self.integrationID) = (call, title, integrationID)
    }

    /// Why the server would not make a call, in words that follow "because"; nil: it would.
    ///
    /// The words repeat no value, which may be a secret.
    package static func problem(of call: SenderEvent.Call) -> String? {
        guard methods.contains(call.method) else {
            return "its method is none of \(methods.sorted().joined(separator: ", "))"
        }
        let scheme = call.url.prefix { $0 != ":" }.lowercased()
        guard ["http", "https"].contains(scheme), !call.url.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
            return "its address is neither http nor https"
        }
        guard call.body.utf8.count <= maximumBodyBytes else { return "its body is over \(maximumBodyBytes) bytes" }
        guard call.headers.count <= maximumHeaders,
            call.headers.reduce(0, { $0 + $1.key.utf8.count + $1.value.utf8.count }) <= maximumHeaderBytes
        else { return "it has over \(maximumHeaders) headers, or over \(maximumHeaderBytes) bytes of them" }
        for (name, value) in call.headers {
            guard !name.isEmpty, name.utf8.allSatisfy(isTokenByte),
                value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
            else { return "a header of it has characters that no header may have" }
            guard !reserved.contains(name.lowercased()) else {
                return "the header \(name.lowercased()) is the server's own"
            }
        }
        return nil
    }

    /// A byte of a field's name (RFC 9110 §5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

// As text: a line each for integration, `=` and title, method and address, headers; an empty line,
// the body. It is read by bytes: characters could join a mark to what stands behind it.
extension ButtonCall {
    private static let scope = "button-call"

    /// The call as a message keeps it.
    package func sealed(_ sealer: any Sealer) -> String {
        let title = self.title.split(whereSeparator: \.isNewline).joined(separator: " ")
        var lines = [integrationID, "=" + title, call.method + " " + call.url]
        lines += call.headers.sorted { $0.key < $1.key }.map { $0.key + ":" + $0.value }
        let text = lines.joined(separator: "\n") + "\n\n" + call.body
        return sealer.seal(Array(text.utf8), scope: Self.scope)
    }

    /// The call that was sealed; nil for any other text.
    package init?(sealed text: String, _ sealer: any Sealer) {
        guard let bytes = sealer.open(text, scope: Self.scope) else { return nil }
        let newline = UInt8(ascii: "\n")
        guard let end = bytes.firstRange(of: [newline, newline]) else { return nil }
        let lines = bytes[..<end.lowerBound].split(separator: newline, omittingEmptySubsequences: false)
        guard lines.count >= 3, let target = Self.halves(of: lines[2], at: UInt8(ascii: " ")) else { return nil }
        var call = SenderEvent.Call(
            method: target.0,
            url: target.1,
            headers: [:],
            body: String(decoding: bytes[end.upperBound...], as: UTF8.self)
        )
        for line in lines.dropFirst(3) {
            guard let (name, value) = Self.halves(of: line, at: UInt8(ascii: ":")) else { return nil }
            call.headers[name] = value
        }
        self.init(
            call,
            title: String(decoding: lines[1].dropFirst(), as: UTF8.self),
            integrationID: String(decoding: lines[0], as: UTF8.self)
        )
    }

    private static func halves(of line: ArraySlice<UInt8>, at mark: UInt8) -> (String, String)? {
        guard let place = line.firstIndex(of: mark) else { return nil }
        return (
            String(decoding: line[..<place], as: UTF8.self), String(decoding: line[(place + 1)...], as: UTF8.self)
        )
    }
}
