import Encodings
import FoundationEssentials
import GraphQL
import GraphQLTransport
import JSON
import TocsinAPI
import TocsinCore
import TocsinHTTP
import TocsinPush

extension Settings {
    /// What the server takes from outside, by size, count and time (`docs/limits.md`).
    package struct Limits: Sendable, Hashable {
        // HTTP
        /// Bytes of a request's body.
        package var bodyBytes = 1 << 20
        /// Bytes of a request's head, fields and target.
        package var headBytes = 32 << 10
        /// Header fields of a request; more get 431 (RFC 6585 §5).
        package var headFields = 100
        /// Bytes of a request's path and query; more get 414 (RFC 9110 §15.5.15).
        package var targetBytes = 8 << 10
        /// Seconds until a request's head is in.
        package var headSeconds = 10.0
        /// Seconds until a request's body is in.
        package var bodySeconds = 30.0
        /// Seconds that a connection may wait for its next request.
        package var idleSeconds = 75.0
        /// Open connections of all clients.
        package var connections = 4096
        /// Connections of one address, an IPv6 network of 64 bits among
        /// them; nil: a quarter of all.
        package var connectionsPerAddress: Int?
        /// Bytes of one owner's bodies (counted twice), answers and queues that wait in memory.
        package var memoryPerOwnerBytes = 32 << 20
        /// The same of all owners together.
        package var memoryBytes = 128 << 20
        /// WebSockets of one owner.
        package var socketsPerOwner = 256
        /// Seconds for which a browser may remember what pages of other origins may do.
        package var originSeconds = 600

        /// Root fields of one owner a second; 0 for any number.
        package var ratePerSecond = 0.0
        /// Root fields that one owner may send at once, where the rate is limited.
        package var rateBurst = 100

        // Receivers
        /// Bytes of what a sender posts, unpacked.
        package var receiverBodyBytes = 5 << 20
        /// Requests of one integration that are kept for its owner; 0: none.
        package var receiverKeepRequests = 20

        // GraphQL documents
        /// Bytes of a document.
        package var documentBytes = 100_000
        /// Tokens of a document.
        package var documentTokens = 2000
        /// Nesting of braces, brackets and parentheses, measured before parsing.
        package var documentNesting = 24
        /// Nesting of fields, fragments unfolded.
        package var documentDepth = 12
        /// Nesting of fields under `__schema` and `__type`.
        package var introspectionDepth = 16
        /// Nesting of lists under `__schema` and `__type`, each of which multiplies the answer.
        package var introspectionLists = 3
        /// Fields of an operation, fragments unfolded.
        package var documentFields = 10_000
        /// Aliases of a document.
        package var documentAliases = 30
        /// Root fields of an operation, fragments unfolded.
        package var documentRootFields = 20
        /// Directives of a document.
        package var documentDirectives = 20
        /// Fragments of a document.
        package var documentFragments = 50
        /// Operations of a document.
        package var documentOperations = 10
        /// Fields times page sizes.
        package var documentCost = 50_000
        /// Plans kept for further requests.
        package var plans = 1000
        /// Bytes of memory for kept plans.
        package var planBytes = 32_000_000
        /// Whether errors about unknown names tell similar ones.
        package var suggests = true
        /// Documents that clients stored; one owner's are a quarter of them at most.
        package var persistedQueries = 1000
        /// Bytes of memory for these, of which one owner's take a quarter at most.
        package var persistedQueryBytes = 8_000_000
        /// Nesting of a request's JSON.
        package var jsonNesting = 32
        /// Values in variables.
        package var jsonValues = 1000
        /// Characters of a number in a request's JSON.
        package var jsonNumberDigits = 64
        /// Errors in one answer; further ones are left out.
        package var answerErrors = 10
        /// Seconds that an operation may take.
        package var executionSeconds = 5.0

        // Data
        /// Rows of a page that names no size.
        package var pageRows = 100
        /// Rows of the largest page.
        package var pageMaximumRows = 1000
        /// Rows that a page examines at most; then it ends with what it has.
        package var pageExaminedRows = 10_000
        /// Bytes of text that a page examines at most.
        package var pageExaminedBytes = 8 << 20
        /// Bytes of a response, and of the texts read for it.
        package var responseBytes = 16 << 20
        /// Nesting of `and`, `or` and `not` in a filter.
        package var filterDepth = 5
        /// Conditions of a filter.
        package var filterParts = 20
        /// Characters of a text in a filter.
        package var filterCharacters = 256
        /// Bytes of a topic's name in UTF-8.
        package var topicNameBytes = 256
        /// Bytes of a message's title in UTF-8.
        package var titleBytes = 1 << 10
        /// Bytes of a message's body in UTF-8.
        package var messageBytes = 256 << 10
        /// Characters of an id that a client chooses.
        package var clientIDCharacters = 64
        /// A case of `ClientIDs`.
        package var clientIDs = ClientIDs.uuid.rawValue
        /// Devices of one owner.
        package var devicesPerOwner = 100
        /// Good tokens of one local user.
        package var tokensPerOwner = 100
        /// Days that a token may be good.
        package var tokenMaximumDays = 3660
        /// Topics of one owner.
        package var topicsPerOwner = 10_000
        /// Users, groups and others that one topic may be shared with.
        package var grantsPerTopic = 500
        /// Bytes that one owner may store, 0 for any number.
        package var storageBytesPerOwner = 10 << 30

        // Sockets
        /// Bytes of one message from a client.
        package var socketMessageBytes = 64 << 10
        /// Subscriptions of one connection.
        package var socketSubscriptions = 100
        /// Subscriptions of one owner over all sockets and event streams.
        package var subscriptionsPerOwner = 2_000
        /// Messages and control frames of a client a second; 0 for any number.
        package var socketMessagesPerSecond = 100.0
        /// How many of these may come at once.
        package var socketMessageBurst = 500
        /// Seconds that a socket or an event stream lives, a tenth more or less; 0 for ever.
        package var socketLifetimeSeconds = 86_400.0
        /// Seconds until `connection_init` is in.
        package var socketInitSeconds = 10.0
        /// Seconds between pings.
        package var socketPingSeconds = 25.0
        /// Seconds until a ping is answered.
        package var socketPongSeconds = 20.0
        /// Seconds between the comments of an event stream that has no events.
        package var streamCommentSeconds = 15.0
        /// Bytes that may wait for a client that does not read, over all its subscriptions.
        package var socketQueueBytes = 1 << 20
        /// Events that may wait for it.
        package var socketQueueEvents = 256
        /// Seconds that one write may block.
        package var socketWriteSeconds = 10.0
    }
}

extension Settings {
    /// The front's settings.
    var ofHTTPServer: HTTPServerSettings {
        var http = HTTPServerSettings()
        http.host = server.host
        http.port = server.port
        http.unixSocket = server.socketPath.map { UnixSocket($0, mode: UInt32(server.socketMode)) }
        http.basePath = server.basePath
        // The other half of the cores is the store's, the outbox's and the live feed's.
        http.threads = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)
        if let certificate = server.tlsCertificatePath, let key = server.tlsKeyPath {
            http.tls = HTTPServerSettings.TLSFiles(certificateFile: certificate, keyFile: key)
        }
        http.crossOrigin.allowedOrigins = server.allowedOrigins
        http.crossOrigin.requestFields += server.allowedHeaders
        http.crossOrigin.maximumAgeSeconds = limits.originSeconds
        http.maximumBodyBytes = limits.bodyBytes
        http.maximumHeadBytes = limits.headBytes
        http.maximumHeadFields = limits.headFields
        http.maximumTargetBytes = limits.targetBytes
        http.maximumConnections = limits.connections
        http.maximumConnectionsOfAddress = limits.connectionsPerAddress ?? max(1, limits.connections / 4)
        http.maximumMemoryOfOwner = limits.memoryPerOwnerBytes
        http.maximumMemory = limits.memoryBytes
        http.requestLog = server.logRequests
        http.trustedProxies = server.trustedProxies.compactMap(AddressNetwork.init)
        http.maximumSocketsOfGroup = limits.socketsPerOwner
        http.maximumSubscriptionsOfGroup = limits.subscriptionsPerOwner
        http.messagesPerSecond = limits.socketMessagesPerSecond
        http.messageBurst = limits.socketMessageBurst
        http.lifetimeMilliseconds = Self.milliseconds(limits.socketLifetimeSeconds)
        http.headMilliseconds = Self.milliseconds(limits.headSeconds)
        http.bodyMilliseconds = Self.milliseconds(limits.bodySeconds)
        http.idleMilliseconds = Self.milliseconds(limits.idleSeconds)
        http.writeMilliseconds = Self.milliseconds(limits.socketWriteSeconds)
        http.answerMilliseconds = Self.milliseconds(limits.executionSeconds)
        http.maximumMessageBytes = limits.socketMessageBytes
        http.maximumQueueBytes = limits.socketQueueBytes
        http.maximumQueueEvents = limits.socketQueueEvents
        http.pingMilliseconds = Self.milliseconds(limits.socketPingSeconds)
        http.pongMilliseconds = Self.milliseconds(limits.socketPongSeconds)
        http.request = requestLimits
        http.session = SocketSessionLimits(
            initialisationMilliseconds: Self.milliseconds(limits.socketInitSeconds),
            maximumOperations: limits.socketSubscriptions,
            request: requestLimits
        )
        http.session.commentMilliseconds = Self.milliseconds(limits.streamCommentSeconds)
        return http
    }

    private var requestLimits: GraphQLRequestLimits {
        var json = JSONLimits(maximumValues: 4 * limits.jsonValues)
        json.maximumBytes = limits.bodyBytes
        json.maximumDepth = limits.jsonNesting
        json.maximumNumberLength = limits.jsonNumberDigits
        return GraphQLRequestLimits(json: json, maximumVariableValues: limits.jsonValues)
    }

    private static func milliseconds(_ seconds: Double) -> Int { Int(seconds * 1000) }
}

extension Settings.WebPush {
    /// Which hosts pushes to browsers may go to.
    var rules: WebPushAddressRules {
        WebPushAddressRules(allowsPrivateAddresses: allowsPrivateAddresses, hosts: hosts)
    }
}

extension Settings.Server {
    /// This node's name in leases and logs.
    var nodeName: String {
        node ?? "\(ProcessInfo.processInfo.hostName)-\(ProcessInfo.processInfo.processIdentifier)"
    }
}

extension Settings.Limits {
    /// The limits of what owners may store.
    var ofServices: ServiceLimits {
        var services = ServiceLimits()
        services.topicNameBytes = topicNameBytes
        services.titleBytes = titleBytes
        services.bodyBytes = messageBytes
        services.idCharacters = clientIDCharacters
        services.clientIDs = ClientIDs(rawValue: clientIDs) ?? .uuid
        services.devicesPerUser = devicesPerOwner
        services.tokensPerUser = tokensPerOwner
        services.tokenSeconds = Double(tokenMaximumDays) * 86_400
        services.topicsPerOwner = topicsPerOwner
        services.grantsPerTopic = grantsPerTopic
        services.defaultPage = pageRows
        services.examination.rows = pageExaminedRows
        services.examination.bytes = pageExaminedBytes
        services.examination.totalBytes = responseBytes
        services.maximumPage = pageMaximumRows
        services.filterDepth = filterDepth
        services.filterParts = filterParts
        services.filterCharacters = filterCharacters
        return services
    }

    /// The limits of documents before they are parsed.
    var ofParsing: ParseLimits {
        ParseLimits(maximumBytes: documentBytes, maximumTokens: documentTokens, maximumDepth: documentNesting)
    }

    /// How plans are made and how many are kept.
    var ofPlans: PlanOptions { PlanOptions(maximumPlans: plans, maximumBytes: planBytes, suggests: suggests) }

    /// The limits of documents that parsed.
    var ofValidation: ValidationLimits {
        var limits = ValidationLimits(
            maximumErrors: answerErrors,
            maximumDepth: documentDepth,
            maximumFields: documentFields
        )
        limits.maximumIntrospectionDepth = introspectionDepth
        limits.maximumIntrospectionLists = introspectionLists
        limits.maximumAliases = documentAliases
        limits.maximumRootFields = documentRootFields
        limits.maximumDirectives = documentDirectives
        limits.maximumFragments = documentFragments
        limits.maximumOperations = documentOperations
        limits.maximumCost = documentCost
        limits.defaultPageSize = pageRows
        limits.maximumPageSize = pageMaximumRows
        return limits
    }
}
