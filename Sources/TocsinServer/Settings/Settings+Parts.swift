import Foundation
import GraphQL
import GraphQLTransport
import JSON
import TocsinAPI
import TocsinCore
import TocsinHTTP
import TocsinPush

extension Settings {
    /// The front's settings.
    var ofHTTPServer: HTTPServerSettings {
        var http = HTTPServerSettings()
        http.host = server.host
        http.port = server.port
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
        services.topicsPerOwner = topicsPerOwner
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
