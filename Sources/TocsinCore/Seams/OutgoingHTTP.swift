/// One ordinary outgoing call: OAuth token exchange, key sets, later webhooks.
///
/// Never pushes.
package struct OutgoingRequest: Sendable {
    package var method: String
    package var url: String
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    package var timeoutSeconds: Double
    package var maximumBodyBytes: Int

    package init(
        method: String = "GET",
        url: String,
        headers: [(name: String, value: String)] = [],
        body: [UInt8] = [],
        timeoutSeconds: Double = 10,
        maximumBodyBytes: Int = 1 << 20
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeoutSeconds = timeoutSeconds
        self.maximumBodyBytes = maximumBodyBytes
    }
}

/// What became of an outgoing call.
package enum OutgoingAnswer: Sendable {
    /// Header names in lower case.
    case response(status: Int, headers: [(name: String, value: String)], body: [UInt8])
    case failed(reason: String)
}

/// Makes outgoing calls with TLS verified and no redirects followed.
package protocol OutgoingHTTP: Sendable {
    func send(_ request: OutgoingRequest) async -> OutgoingAnswer
}
