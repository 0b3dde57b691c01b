import TocsinCore

extension SettingTable {
    static let httpLimits: [SettingDefinition] = [
        .integer("body-bytes", \.limits.bodyBytes, 1024...(1 << 30), "A request's body.").unit("bytes"),
        .integer("head-bytes", \.limits.headBytes, 1024...(1 << 20), "A request's head.").unit("bytes"),
        .integer("head-fields", \.limits.headFields, 10...10_000, "Header fields of a request."),
        .integer("target-bytes", \.limits.targetBytes, 64...(1 << 20), "A request's path and query.").unit("bytes"),
        .seconds("head-seconds", \.limits.headSeconds, 0.1...3600, "Time until a request's head is in."),
        .seconds("body-seconds", \.limits.bodySeconds, 0.1...3600, "Time until a request's body is in."),
        .seconds("idle-seconds", \.limits.idleSeconds, 0.1...3600, "Time a connection may wait for its next request."),
        .integer("connections", \.limits.connections, 1...1_000_000, "Open connections."),
        .optionalInteger(
            "connections-per-address",
            \.limits.connectionsPerAddress,
            1...1_000_000,
            "Open connections of one address; a quarter of all without it."
        ),
        .init(
            "trusted-proxies",
            "Proxies in front of the server, as addresses or networks with commas, or none; they name the real address."
        ) { text, settings in
            let names = text == "none" ? [] : text.split(separator: ",").map { $0.trimmed }.filter { !$0.isEmpty }
            for name in names {
                if let problem = SettingRules.networkProblem(name) { return problem }
            }
            settings.server.trustedProxies = names
            return nil
        } text: { settings in
            let names = settings.server.trustedProxies
            return names.isEmpty ? "none" : names.joined(separator: ",")
        },
        .integer(
            "memory-per-owner-bytes",
            \.limits.memoryPerOwnerBytes,
            (1 << 20)...(1 << 40),
            "Bodies, answers and queues of one owner that wait in memory, bodies counted twice."
        ).unit("bytes"),
        .integer("memory-bytes", \.limits.memoryBytes, (1 << 20)...(1 << 40), "These of all owners.").unit("bytes"),
        .integer("sockets-per-owner", \.limits.socketsPerOwner, 1...1_000_000, "WebSockets of one owner."),
        .decimal(
            "rate-per-second",
            \.limits.ratePerSecond,
            0...1_000_000,
            "Root fields of one owner's requests; 0 for no limit."
        ),
        .integer(
            "rate-burst",
            \.limits.rateBurst,
            1...1_000_000,
            "Root fields of one owner at once, where these are limited."
        ),
        .list(
            "allowed-headers",
            \.server.allowedHeaders,
            "Header fields that pages of allowed origins may send besides those of GraphQL's clients.",
            check: SettingRules.fieldNameProblem
        ),
        .integer("origin-seconds", \.limits.originSeconds, 0...86_400, "Time for which browsers remember these leaves.")
            .unit("seconds"),
    ]

    static let documentLimits: [SettingDefinition] = [
        .integer("document-bytes", \.limits.documentBytes, 100...(1 << 24), "A document.").unit("bytes"),
        .integer("document-tokens", \.limits.documentTokens, 10...1_000_000, "Tokens of a document."),
        .integer(
            "document-nesting",
            \.limits.documentNesting,
            4...200,
            "Nesting of brackets, measured before parsing."
        ),
        .integer("document-depth", \.limits.documentDepth, 2...100, "Nesting of fields, fragments unfolded."),
        .integer("introspection-depth", \.limits.introspectionDepth, 2...100, "Nesting of fields under introspection."),
        .integer("introspection-lists", \.limits.introspectionLists, 1...100, "Nesting of lists under introspection."),
        .integer("document-fields", \.limits.documentFields, 10...1_000_000, "Fields of an operation, unfolded."),
        .integer("document-aliases", \.limits.documentAliases, 0...10_000, "Aliases of a document."),
        .integer("document-root-fields", \.limits.documentRootFields, 1...10_000, "Root fields of an operation."),
        .integer("document-directives", \.limits.documentDirectives, 0...10_000, "Directives of a document."),
        .integer("document-fragments", \.limits.documentFragments, 0...10_000, "Fragments of a document."),
        .integer("document-operations", \.limits.documentOperations, 1...10_000, "Operations of a document."),
        .integer("document-cost", \.limits.documentCost, 100...1_000_000_000, "Fields times page sizes."),
        .integer("plans", \.limits.plans, 1...1_000_000, "Plans of operations kept."),
        .integer("plan-bytes", \.limits.planBytes, 10_000...(1 << 40), "Memory of kept plans.").unit("bytes"),
        .flag("suggestions", \.limits.suggests, "Similar names in errors about unknown ones."),
        .integer("persisted-query-count", \.limits.persistedQueries, 1...1_000_000, "Documents stored by clients."),
        .integer("persisted-query-bytes", \.limits.persistedQueryBytes, 1000...(1 << 40), "Memory of these.")
            .unit("bytes"),
        .integer("json-nesting", \.limits.jsonNesting, 4...500, "Nesting of a request's JSON."),
        .integer("json-values", \.limits.jsonValues, 10...1_000_000, "Values in variables."),
        .integer("json-number-digits", \.limits.jsonNumberDigits, 16...1000, "Digits of a number."),
        .integer("answer-errors", \.limits.answerErrors, 1...1000, "Errors in one answer; the rest is left out."),
        .seconds("execution-seconds", \.limits.executionSeconds, 0.1...600, "Time an operation may take."),
    ]

    static let dataLimits: [SettingDefinition] = [
        .integer(
            "database-readers",
            \.server.databaseReaders,
            1...256,
            "Connections that read for clients, of which one owner has half at most; one more reads for the server itself, "
                + "and one writes."
        ),
        .flag(
            "database-prepared",
            \.server.databasePrepared,
            "Whether statements are prepared at a PostgreSQL server; false behind PgBouncer in transaction mode."
        ),
        .init("doorbell", "What wakes other nodes: postgres, postgres://… past a pooler, nats://…, or off.") {
            text,
            settings in
            switch DoorbellAddress.parsed(text) {
            case .success(let address):
                settings.server.doorbell = address
                return nil
            case .failure(let problem): return problem
            }
        } text: {
            $0.server.doorbell.description
        },
        .integer("page-rows", \.limits.pageRows, 1...10_000, "Rows of a page that names no limit."),
        .integer("page-maximum-rows", \.limits.pageMaximumRows, 1...10_000, "Rows of the largest page."),
        .integer(
            "page-examined-rows",
            \.limits.pageExaminedRows,
            100...10_000_000,
            "Rows that a page looks at before it ends, short."
        ),
        .integer("page-examined-bytes", \.limits.pageExaminedBytes, 10_000...(1 << 30), "Text that a page looks at.")
            .unit("bytes"),
        .integer(
            "response-bytes",
            \.limits.responseBytes,
            100_000...(1 << 30),
            "A response, and what is read for it; one owner's requests hold twice as much, all requests six times."
        ).unit("bytes"),
        .integer("filter-depth", \.limits.filterDepth, 1...50, "Nesting of a filter."),
        .integer("filter-parts", \.limits.filterParts, 1...1000, "Conditions of a filter."),
        .integer("filter-characters", \.limits.filterCharacters, 1...10_000, "Characters of a text in a filter."),
        .integer("topic-name-bytes", \.limits.topicNameBytes, 1...10_000, "A topic's name.").unit("bytes"),
        .integer("title-bytes", \.limits.titleBytes, 1...(1 << 20), "A message's title.").unit("bytes"),
        .integer("message-bytes", \.limits.messageBytes, 1...(1 << 24), "A message's body.").unit("bytes"),
        .integer("client-id-characters", \.limits.clientIDCharacters, 36...256, "An id chosen by a client."),
        .choice(
            "client-ids",
            \.limits.clientIDs,
            ClientIDs.allCases.map(\.rawValue),
            "Ids that clients may choose for topics and messages: uuid, UUIDs and ULIDs; any, on servers of one team."
        ),
        .integer("delivery-days", \.push.keptDays, 1...3650, "Days for which settled deliveries are kept."),
        .duration(
            "messages-keep",
            \.retention.keptSeconds,
            60...(100 * 31_536_000),
            "How long messages are kept, for ever without it: 90m, 12h, 30d, 1y."
        ),
        .optionalInteger(
            "messages-keep-per-topic",
            \.retention.keptPerTopic,
            1...1_000_000_000,
            "How many messages of a topic are kept, all without it."
        ),
        .integer("devices-per-owner", \.limits.devicesPerOwner, 1...1_000_000, "Devices of one owner."),
        .integer("topics-per-owner", \.limits.topicsPerOwner, 1...100_000_000, "Topics of one owner."),
        .integer(
            "storage-bytes-per-owner",
            \.limits.storageBytesPerOwner,
            0...(1 << 60),
            "What one owner may store, all records together; 0 for no limit."
        ).unit("bytes"),
    ]

    static let socketLimits: [SettingDefinition] = [
        .integer("socket-message-bytes", \.limits.socketMessageBytes, 1024...(1 << 24), "A client's message.")
            .unit("bytes"),
        .integer("socket-subscriptions", \.limits.socketSubscriptions, 1...10_000, "Subscriptions of a connection."),
        .integer(
            "subscriptions-per-owner",
            \.limits.subscriptionsPerOwner,
            1...10_000_000,
            "Subscriptions of one owner over all connections."
        ),
        .decimal(
            "socket-messages-per-second",
            \.limits.socketMessagesPerSecond,
            0...1_000_000,
            "Messages of a client; 0 for no limit."
        ),
        .integer("socket-message-burst", \.limits.socketMessageBurst, 1...1_000_000, "Messages of a client at once."),
        .seconds(
            "socket-lifetime-seconds",
            \.limits.socketLifetimeSeconds,
            0...31_536_000,
            "Time a socket or an event stream lives, a tenth more or less; 0 for ever."
        ),
        .seconds("socket-init-seconds", \.limits.socketInitSeconds, 0.1...600, "Time until connection_init is in."),
        .seconds("socket-ping-seconds", \.limits.socketPingSeconds, 0.1...600, "Time between pings."),
        .seconds("socket-pong-seconds", \.limits.socketPongSeconds, 0.1...600, "Time until a pong is in."),
        .seconds(
            "stream-comment-seconds",
            \.limits.streamCommentSeconds,
            0.1...600,
            "Time between a stream's comments."
        ),
        .integer("socket-queue-bytes", \.limits.socketQueueBytes, 1024...(1 << 30), "What may wait for a slow client.")
            .unit("bytes"),
        .integer("socket-queue-events", \.limits.socketQueueEvents, 1...1_000_000, "Events that may wait for it."),
        .seconds("socket-write-seconds", \.limits.socketWriteSeconds, 0.1...600, "Time that one write may block."),
    ]
}
