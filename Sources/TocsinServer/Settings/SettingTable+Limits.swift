import TocsinCore

extension SettingTable {
    static let httpLimits: [SettingDefinition] = [
        .integer("body-bytes", \.limits.bodyBytes, 1024...(1 << 30), "The largest body of a request.").unit("bytes"),
        .integer("head-bytes", \.limits.headBytes, 1024...(1 << 20), "The largest head of a request.").unit("bytes"),
        .integer("head-fields", \.limits.headFields, 10...10_000, "Header fields of a request."),
        .integer("target-bytes", \.limits.targetBytes, 64...(1 << 20), "The longest path and query of a request.").unit(
            "bytes"
        ),
        .seconds(
            "head-seconds",
            \.limits.headSeconds,
            0.1...3600,
            "How long a client may take to send a request's head."
        ),
        .seconds(
            "body-seconds",
            \.limits.bodySeconds,
            0.1...3600,
            "How long a client may take to send a request's body."
        ),
        .seconds(
            "idle-seconds",
            \.limits.idleSeconds,
            0.1...3600,
            "How long a connection may wait for its next request."
        ),
        .integer("connections", \.limits.connections, 1...1_000_000, "Open connections."),
        .optionalInteger(
            "connections-per-address",
            \.limits.connectionsPerAddress,
            1...1_000_000,
            "Open connections of one address; a quarter of all unless set."
        ),
        .init(
            "trusted-proxies",
            "Proxies in front of the server that name the client's address: addresses or networks with commas, or none.",
            copy: SettingDefinition.copying(\.server.trustedProxies)
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
        }.reloading(),
        .integer(
            "memory-per-owner-bytes",
            \.limits.memoryPerOwnerBytes,
            (1 << 20)...(1 << 40),
            "What may wait in memory of one owner: bodies (counted twice), answers and queues."
        ).unit("bytes"),
        .integer(
            "memory-bytes",
            \.limits.memoryBytes,
            (1 << 20)...(1 << 40),
            "What may wait in memory of all owners together."
        ).unit("bytes"),
        .integer("sockets-per-owner", \.limits.socketsPerOwner, 1...1_000_000, "WebSockets of one owner."),
        .decimal(
            "rate-per-second",
            \.limits.ratePerSecond,
            0...1_000_000,
            "Root fields that one owner may send in a second; 0 for no limit."
        ).reloading(),
        .integer(
            "rate-burst",
            \.limits.rateBurst,
            1...1_000_000,
            "Root fields that one owner may send at once, where the rate is limited."
        ).reloading(),
        .list(
            "allowed-headers",
            \.server.allowedHeaders,
            "Header fields that pages of allowed origins may send besides those of GraphQL clients.",
            check: SettingRules.fieldNameProblem
        ).reloading(),
        .integer(
            "origin-seconds",
            \.limits.originSeconds,
            0...86_400,
            "How long browsers may remember what other origins may do."
        ).reloading()
            .unit("seconds"),
    ]

    static let receiverLimits: [SettingDefinition] = [
        .integer(
            "receiver-body-bytes",
            \.limits.receiverBodyBytes,
            1024...(1 << 28),
            "The largest body that a sender of an integration may post, unpacked."
        ).unit("bytes"),
        .integer(
            "receiver-keep-requests",
            \.limits.receiverKeepRequests,
            0...1000,
            "Requests of an integration that are kept for its owner, for a day at most; 0 for none."
        ),
    ]

    static let documentLimits: [SettingDefinition] = [
        .integer("document-bytes", \.limits.documentBytes, 100...(1 << 24), "The largest document.").unit("bytes"),
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
        .integer(
            "document-cost",
            \.limits.documentCost,
            100...1_000_000_000,
            "The largest cost of an operation: its fields times their page sizes."
        ),
        .integer("plans", \.limits.plans, 1...1_000_000, "Plans of operations that are kept."),
        .integer("plan-bytes", \.limits.planBytes, 10_000...(1 << 40), "Memory for kept plans.").unit("bytes"),
        .flag("suggestions", \.limits.suggests, "Whether errors about unknown names suggest similar ones."),
        .integer(
            "persisted-query-count",
            \.limits.persistedQueries,
            1...1_000_000,
            "Documents that clients may store."
        ),
        .integer(
            "persisted-query-bytes",
            \.limits.persistedQueryBytes,
            1000...(1 << 40),
            "Memory for documents that clients store."
        )
        .unit("bytes"),
        .integer("json-nesting", \.limits.jsonNesting, 4...500, "Nesting of a request's JSON."),
        .integer("json-values", \.limits.jsonValues, 10...1_000_000, "Values in a request's variables."),
        .integer("json-number-digits", \.limits.jsonNumberDigits, 16...1000, "Digits of a number."),
        .integer("answer-errors", \.limits.answerErrors, 1...1000, "Errors in one answer; further ones are left out."),
        .seconds("execution-seconds", \.limits.executionSeconds, 0.1...600, "How long an operation may take."),
    ]

    static let database: [SettingDefinition] = [
        .integer(
            "database-readers",
            \.server.databaseReaders,
            1...256,
            "Connections that read for clients; one owner has half of them at most. One more reads for the "
                + "server, one writes."
        ),
        .flag(
            "database-prepared",
            \.server.databasePrepared,
            "Whether statements are prepared at a PostgreSQL server; false behind PgBouncer in transaction mode."
        ),
        .init(
            "doorbell",
            "What wakes other nodes: postgres, postgres://… to go past a pooler, nats://…, or off.",
            copy: SettingDefinition.copying(\.server.doorbell)
        ) { text, settings in
            switch DoorbellAddress.parsed(text) {
            case .success(let address):
                settings.server.doorbell = address
                return nil
            case .failure(let problem): return problem
            }
        } text: {
            $0.server.doorbell.description
        },
        .integer("delivery-days", \.push.keptDays, 1...3650, "Days for which settled deliveries are kept.").reloading(),
        .duration(
            "messages-keep",
            \.retention.keptSeconds,
            60...(100 * 31_536_000),
            "How long messages are kept, such as 90m, 12h, 30d or 1y; for ever unless set."
        ).reloading(),
        .optionalInteger(
            "messages-keep-per-topic",
            \.retention.keptPerTopic,
            1...1_000_000_000,
            "How many messages of a topic are kept; all unless set."
        ).reloading(),
        .duration(
            "audit-keep",
            \.auditKeptSeconds,
            86_400...(100 * 31_536_000),
            "How long rows of the audit are kept, such as 90d or 1y."
        ).reloading(),
        .duration(
            "incidents-keep",
            \.incidentsKeptSeconds,
            3600...(100 * 31_536_000),
            "How long incidents are kept after their end, with their timelines, such as 90d or 1y."
        ).reloading(),
    ]

    static let dataLimits: [SettingDefinition] = [
        .integer("page-rows", \.limits.pageRows, 1...10_000, "Rows of a page that names no limit."),
        .integer("page-maximum-rows", \.limits.pageMaximumRows, 1...10_000, "Rows of the largest page."),
        .integer(
            "page-examined-rows",
            \.limits.pageExaminedRows,
            100...10_000_000,
            "Rows that a page may examine; then it ends with what it has."
        ),
        .integer("page-examined-bytes", \.limits.pageExaminedBytes, 10_000...(1 << 30), "Text that a page may examine.")
            .unit("bytes"),
        .integer(
            "response-bytes",
            \.limits.responseBytes,
            100_000...(1 << 30),
            "The largest response; one owner's requests together hold twice as much, all requests six times."
        ).unit("bytes"),
        .integer("filter-depth", \.limits.filterDepth, 1...50, "Nesting of a filter."),
        .integer("filter-parts", \.limits.filterParts, 1...1000, "Conditions of a filter."),
        .integer("filter-characters", \.limits.filterCharacters, 1...10_000, "Characters of a text in a filter."),
        .integer("topic-name-bytes", \.limits.topicNameBytes, 1...10_000, "The longest name of a topic.").unit("bytes"),
        .integer("title-bytes", \.limits.titleBytes, 1...(1 << 20), "The longest title of a message.").unit("bytes"),
        .integer("message-bytes", \.limits.messageBytes, 1...(1 << 24), "The longest body of a message.").unit("bytes"),
        .integer(
            "client-id-characters",
            \.limits.clientIDCharacters,
            36...256,
            "Characters of an id that a client chooses."
        ),
        .choice(
            "client-ids",
            \.limits.clientIDs,
            ClientIDs.allCases.map(\.rawValue),
            "Ids that clients may choose for topics and messages. uuid: UUIDs and ULIDs; any: any text, for servers of one team."
        ),
        .integer("devices-per-owner", \.limits.devicesPerOwner, 1...1_000_000, "Devices of one owner.").reloading(),
        .integer("tokens-per-owner", \.limits.tokensPerOwner, 1...1000, "Good tokens of one local user.").reloading(),
        .integer(
            "token-max-days",
            \.limits.tokenMaximumDays,
            1...3660,
            "How long a token may be good that is made from now on."
        ).reloading().unit("days"),
        .integer("topics-per-owner", \.limits.topicsPerOwner, 1...100_000_000, "Topics of one owner.").reloading(),
        .integer(
            "grants-per-topic",
            \.limits.grantsPerTopic,
            1...100_000,
            "Users, groups and others that one topic may be shared with."
        ).reloading(),
        .integer(
            "storage-bytes-per-owner",
            \.limits.storageBytesPerOwner,
            0...(1 << 60),
            "What one owner may store in all records together; 0 for no limit."
        ).reloading().unit("bytes"),
    ]

    static let socketLimits: [SettingDefinition] = [
        .integer(
            "socket-message-bytes",
            \.limits.socketMessageBytes,
            1024...(1 << 24),
            "The largest message of a client."
        )
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
            "Messages that a client may send in a second; 0 for no limit."
        ),
        .integer(
            "socket-message-burst",
            \.limits.socketMessageBurst,
            1...1_000_000,
            "Messages that a client may send at once."
        ),
        .seconds(
            "socket-lifetime-seconds",
            \.limits.socketLifetimeSeconds,
            0...31_536_000,
            "How long a socket or an event stream lives, give or take a tenth; 0 for ever."
        ),
        .seconds(
            "socket-init-seconds",
            \.limits.socketInitSeconds,
            0.1...600,
            "How long a client may take to send connection_init."
        ),
        .seconds("socket-ping-seconds", \.limits.socketPingSeconds, 0.1...600, "Time between pings."),
        .seconds(
            "socket-pong-seconds",
            \.limits.socketPongSeconds,
            0.1...600,
            "How long a client may take to answer a ping."
        ),
        .seconds(
            "stream-comment-seconds",
            \.limits.streamCommentSeconds,
            0.1...600,
            "Time between the comments of an event stream without events."
        ),
        .integer(
            "socket-queue-bytes",
            \.limits.socketQueueBytes,
            1024...(1 << 30),
            "How much may wait for a client that reads slowly."
        )
        .unit("bytes"),
        .integer(
            "socket-queue-events",
            \.limits.socketQueueEvents,
            1...1_000_000,
            "Events that may wait for a client that reads slowly."
        ),
        .seconds(
            "socket-write-seconds",
            \.limits.socketWriteSeconds,
            0.1...600,
            "How long one write to a client may block."
        ),
    ]
}
