import NIOHTTP1

/// What a request is called in the log, in `X-Request-Id`, in errors and in the audit.
///
/// It is what a trusted proxy called it. Else it is ours: digits of this run of the server, the
/// connection's number and the request's number on it.
enum RequestID {
    /// The header that brings it and takes it back.
    static let header: StaticString = "x-request-id"
    private static let maximumBytes = 64

    /// Whether a name of a proxy's is taken: 1 to 64 letters, digits, dots, hyphens and
    /// underscores.
    static func isWellFormed(_ text: String) -> Bool {
        (1...maximumBytes).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

extension RequestHead {
    /// The id of a request with this head and these fields, by its number on the connection.
    func id(ofRequest number: Int, _ headers: HTTPHeaders) -> String {
        guard connection.proxies != nil, !fields.isRepeated(.requestID),
            let given = fields.value(.requestID, in: headers), RequestID.isWellFormed(given)
        else { return connection.id(ofRequest: number) }
        return given
    }
}

extension RequestHead.Connection {
    /// Our own id of the request with this number on the connection.
    func id(ofRequest number: Int) -> String { name + "-\(number)" }
}
