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
    /// Where the call may go.
    package var addresses = OutgoingAddresses.any

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

/// The addresses that a call may go to, judged when a socket is opened: so a name that leads
/// elsewhere afterwards leads nowhere.
///
/// All but `any` are for addresses that others name: such a call takes no proxy and no kept
/// connection, and says of its failures nothing that names the address.
package enum OutgoingAddresses: Sendable, Hashable {
    /// Any: the operator has named it.
    case any
    /// Those of the public internet.
    case publicOnly
    /// Those, and this machine's own.
    case publicOrLoopback
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
