/// One ordinary outgoing call: OAuth token exchange, key sets, later webhooks.
///
/// Never pushes.
package struct OutgoingRequest: Sendable {
    /// The method, in upper case.
    package var method: String
    /// An absolute address, `https` unless the settings allow another.
    package var url: String
    /// Header fields in the order in which they are sent.
    package var headers: [(name: String, value: String)]
    /// The body; empty: none is sent.
    package var body: [UInt8]
    /// How long the whole call may take, in seconds.
    package var timeoutSeconds: Double
    /// How many bytes of the answer's body are read before the call fails.
    package var maximumBodyBytes: Int

    /// A call; `send` makes it.
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
    /// Makes one call and waits for its answer.
    func send(_ request: OutgoingRequest) async -> OutgoingAnswer
}
