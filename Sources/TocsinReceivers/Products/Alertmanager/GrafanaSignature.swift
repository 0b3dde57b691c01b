import TocsinCore

/// Grafana's signature of its posts: the HMAC-SHA256 of the body, or of time, colon and body.
package enum GrafanaSignature {
    /// Where the signature stands.
    package static let header = "X-Grafana-Alerting-Signature"
    /// Where the time stands, in seconds since 1970, when the contact point names this header.
    package static let timeHeader = "X-Grafana-Alerting-Timestamp"
    /// A time may be so far off.
    package static let toleranceSeconds: Int64 = 300

    /// Whether the request is signed with the integration's secret; an integration without a secret
    /// asks for none.
    package static func holds(for request: ReceiverRequest, in context: ReceiverContext) -> Bool {
        guard let secret = context.signatureSecret else { return true }
        guard let text = request.header(header), let given = HexText.bytes(of: text) else { return false }
        var message = request.body
        if let time = request.header(timeHeader) {
            let now = request.receivedAt.milliseconds / 1000
            guard let seconds = Int64(time), (now - toleranceSeconds...now + toleranceSeconds).contains(seconds) else {
                return false
            }
            message = Array("\(time):".utf8) + message
        }
        let expected = context.hmacSHA256(secret, message)
        guard expected.count == given.count, !expected.isEmpty else { return false }
        // Every byte is looked at, so that the time tells nothing.
        return zip(expected, given).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
