package import Encodings
package import GraphQLTransport

/// Where the server listens and what a client may ask of it.
package struct HTTPServerSettings: Sendable {
    /// The address to listen on.
    package var host = "127.0.0.1"
    /// The port to listen on; 0 takes a free one.
    package var port = 0
    /// The socket in the file system to listen on in place of host and port.
    ///
    /// Whoever may connect there is a proxy of ours: it is believed on where requests came from.
    package var unixSocket: UnixSocket?
    /// Whose processes may connect to that socket, by the user's number; `nil`: whoever the file's
    /// rights let.
    package var admitsUser: (@Sendable (_ user: UInt32) -> Bool)?
    /// A socket that listens already, in place of this address and port; it is closed at the stop.
    package var listeningSocket: Int32?
    /// The certificate and its key; `nil` serves plain text.
    package var tls: TLSFiles?
    /// How many threads serve connections.
    package var threads = 1
    /// How many connections the system may hold for us until they are accepted.
    package var backlog = 1024

    /// What all paths begin with, such as `/tocsin`; empty for nothing.
    package var basePath = ""
    /// The path of GraphQL over HTTP and of its sockets, below the base path; empty serves none.
    package var graphQLPath = "/graphql"
    /// Which pages of other hosts may use the server.
    package var crossOrigin = CrossOriginSettings()
    /// What keeps pages from sending requests in their reader's name.
    package var forgery = ForgeryProtection()

    /// Which cookie shows a browser's session; `nil` takes none.
    package var cookies: SessionCookies?
    /// Told of a request with a session's cookie that no page of ours has sent, and what it lacks.
    package var sessionRefused: (@Sendable (_ lack: String, _ source: RequestSource) -> Void)?
    /// The longest body of a request without credentials, where some are served, in bytes.
    package var maximumBodyBytesOfStrangers = 16 * 1024

    /// The longest request body, in bytes.
    package var maximumBodyBytes = 1_048_576
    /// The longest request head, in bytes.
    package var maximumHeadBytes = 32 * 1024
    /// How many fields a request head may have.
    package var maximumHeadFields = 100
    /// The longest request target, in bytes.
    package var maximumTargetBytes = 8 * 1024
    /// How many connections may be open.
    package var maximumConnections = 4096
    /// How many of them one address may have; an IPv6 network of 64 bits counts as one.
    package var maximumConnectionsOfAddress = 1024
    /// How many bytes of bodies, answers and queues one owner may have waiting, or an address
    /// whose owner is not known.
    package var maximumMemoryOfOwner = 32 << 20
    /// How many bytes of these may wait in all.
    package var maximumMemory = 128 << 20
    /// Proxies: not counted themselves, and believed on where a request came from.
    package var trustedProxies: [AddressNetwork] = []

    /// What the ids of requests begin with: unlike those of other runs of the server.
    package var requestIDPrefix = ""
    /// Which requests have a line in the log.
    package var requestLog = RequestLogPolicy.all
    /// A path as the log may show it, without the secrets in it.
    package var maskedPath: @Sendable (String) -> String = { $0 }

    /// A request head must be in within this time.
    package var headMilliseconds = 10_000
    /// A request body must be in within this time of its head.
    package var bodyMilliseconds = 30_000
    /// A connection without a request is closed after this time.
    package var idleMilliseconds = 75_000
    /// A request, over HTTP or a socket, is answered within this time, be it with 503 or an error.
    package var answerMilliseconds = 10_000
    /// A peer that takes nothing for this long is dropped.
    package var writeMilliseconds = 10_000
    /// After a refusal the peer may finish sending for this long before it is cut.
    package var lingerMilliseconds = 2_000

    /// The longest WebSocket message, in bytes.
    package var maximumMessageBytes = 64 * 1024
    /// The longest one before its sender has been let in, in bytes.
    package var maximumMessageBytesOfStrangers = 16 * 1024
    /// How many bytes may wait for the peer of a socket or an event stream to read.
    package var maximumQueueBytes = 1_048_576
    /// How many messages may wait for the peer of a socket or an event stream to read.
    package var maximumQueueEvents = 256
    /// How many sockets and event streams one owner may have open.
    package var maximumSocketsOfGroup = 256
    /// How many subscriptions one owner may have over all sockets and event streams.
    package var maximumSubscriptionsOfGroup = 2_000
    /// How many messages and control frames a client may send a second, 0 for any
    /// number, and how many at once.
    package var messagesPerSecond = 100.0
    /// How many of these a client may send at once.
    package var messageBurst = 500
    /// How long a socket or an event stream lives, a tenth more or less; 0 for ever.
    package var lifetimeMilliseconds = 86_400_000
    /// A ping is sent this often.
    package var pingMilliseconds = 25_000
    /// A ping is answered within this time.
    package var pongMilliseconds = 20_000
    /// Limits of every socket session.
    package var session = SocketSessionLimits()
    /// Limits of every request.
    package var request = GraphQLRequestLimits()
    /// Counts requests and connections; `nil` counts nothing.
    package var metrics: HTTPMetrics?
    /// Watches how late the event loops are; `nil` watches nothing.
    package var loopLag: LoopLag?

    /// The settings with their defaults.
    package init() {}

    /// A path of ours as clients ask for it.
    func publicPath(_ path: String) -> String { basePath + path }

    /// The part of a client's path below the base path; empty where it is not below it.
    func innerPath(_ path: String) -> String {
        guard !basePath.isEmpty, path != "*" else { return path }
        guard path.hasPrefix(basePath) else { return "" }
        let rest = path.dropFirst(basePath.count)
        if rest.isEmpty { return "/" }
        return rest.first == "/" ? String(rest) : ""
    }

    /// A certificate chain and its key, both as PEM files.
    package struct TLSFiles: Sendable, Hashable {
        /// The path of the certificate chain.
        package var certificateFile: String
        /// The path of the private key.
        package var keyFile: String

        /// A pair of files.
        package init(certificateFile: String, keyFile: String) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }
}
