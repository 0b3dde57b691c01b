import JSON
import Testing

/// A right to hear something: the live side of the table of rights of docs/sharing.md.
struct LiveRight {
    let name: String
    /// The row of the table that gives it, and what stands there for those who have it.
    let row: String
    var cells: Set<String> = ["yes", "all"]
    let field: String
    /// Names something of one topic (`TOPIC`, `MESSAGE` and `ALARM` stand for ids), or brings what
    /// happens in all topics.
    let document: String
    /// What of an event says whose topic it is about.
    var topic: String?

    var isNamed: Bool { document.contains("\"") }

    /// Who has it by the table.
    var holders: Set<RightsMatrixTests.Standing> { RightsMatrixTests.holders(of: [row], cells) }

    static let all: [LiveRight] = [
        LiveRight(
            name: "hear the messages of a topic",
            row: RightsMatrixTests.seeing,
            field: "onCreateMessage",
            document: #"subscription { onCreateMessage(topicId: "TOPIC") { topicId } }"#,
            topic: "topicId"
        ),
        LiveRight(
            name: "follow the timeline of an incident",
            row: RightsMatrixTests.answering,
            field: "onIncidentEntry",
            document: #"subscription { onIncidentEntry(incidentId: "ALARM") { change } }"#
        ),
        LiveRight(
            name: "follow the pushes of a message",
            row: RightsMatrixTests.learning,
            cells: ["all", "those to your devices"],
            field: "onDelivery",
            document: #"subscription { onDelivery(messageId: "MESSAGE") { status } }"#
        ),
        LiveRight(
            name: "hear all messages",
            row: RightsMatrixTests.seeing,
            field: "onCreateMessage",
            document: "subscription { onCreateMessage { topicId } }",
            topic: "topicId"
        ),
        LiveRight(
            name: "hear of topics that change",
            row: RightsMatrixTests.seeing,
            field: "onUpdateTopic",
            document: "subscription { onUpdateTopic { id } }",
            topic: "id"
        ),
        LiveRight(
            name: "hear of incidents that open",
            row: RightsMatrixTests.answering,
            field: "onCreateIncident",
            document: "subscription { onCreateIncident { topicId } }",
            topic: "topicId"
        ),
        LiveRight(
            name: "hear of incidents that change",
            row: RightsMatrixTests.answering,
            field: "onUpdateIncident",
            document: "subscription { onUpdateIncident { topicId } }",
            topic: "topicId"
        ),
    ]

    /// Subscriptions that are tried elsewhere.
    static let leftOut = [
        "onCreateTopic": "Nobody shares what is not there yet; tried by IsolatedSubscriptionTests.",
        "onDeleteTopic": "Ends what names the topic; tried by AccessEndTests.",
        "onUpdateMessage": "The schema that ships lets nobody.",
        "onDeleteMessage": "The schema that ships lets nobody.",
        "onDeleteIncident": "Retention alone deletes them.",
        "onReadState": "Is about who listens; tried by ReadStateFeedTests.",
        "onAuditEvent": "Is the administrators'; tried by FollowedAuditTests.",
        "onCreateIntegration": "As getIntegration; tried by IsolatedSubscriptionTests.",
        "onUpdateIntegration": "As getIntegration; tried by IsolatedSubscriptionTests.",
        "onDeleteIntegration": "As getIntegration; tried by IsolatedSubscriptionTests.",
        "onCreateMonitor": "As createMonitor; tried by IsolatedSubscriptionTests.",
        "onUpdateMonitor": "As createMonitor; tried by IsolatedSubscriptionTests.",
        "onDeleteMonitor": "As createMonitor; tried by IsolatedSubscriptionTests.",
    ]
}

/// What each caller of the matrix hears of what Ada does in all of her topics, over each transport.
struct LiveRights {
    typealias Caller = RightsMatrixTests.Caller

    /// Somebody who listens over one transport.
    private struct Listener {
        let name: String
        let streams: LiveStreams
    }

    let scene: SharedScene
    let callers: [Caller]

    /// Checks that each hears what the table says and nothing else, and that a refusal looks like
    /// absence.
    func check() async throws {
        try await checkThatAllAreTried()
        let (marker, _) = try await scene.makeTopic("for all")
        try await scene.share(marker, with: ["everybody": true], as: ["READER"])
        let incident = try await scene.raise(in: marker)
        let listeners = try await listen()
        for listener in listeners { checkRefusals(listener) }
        for caller in callers { try await stir(caller.topic, caller.incident) }
        // All of them hear of this one, behind whatever they hear of those before it.
        try await stir(marker, incident)
        for listener in listeners {
            try await checkNamed(listener)
            try await checkAll(listener, marker: marker)
        }
    }

    private func checkThatAllAreTried() async throws {
        let answer = try await scene.installation.curl(
            "{ __schema { subscriptionType { fields { name } } } }",
            token: scene.ada
        )
        let fields = answer["data"]?["__schema"]?["subscriptionType"]?["fields"]?.arrayValue ?? []
        let names = Set(fields.compactMap { $0["name"]?.stringValue })
        #expect(names.count > 10)
        #expect(names.subtracting(LiveRight.all.map(\.field)).subtracting(LiveRight.leftOut.keys) == [])
    }

    /// Lets everybody ask for everything over each transport.
    private func listen() async throws -> [Listener] {
        var listeners: [Listener] = []
        let tokens = Dictionary(callers.map { ($0.name, $0.token) }) { first, _ in first }
        for (name, token) in tokens {
            for transport in LiveTransport.allCases {
                let streams = try await LiveStreams(transport, scene.installation, token: token)
                for right in LiveRight.all where right.isNamed {
                    for caller in callers where caller.name == name {
                        try streams.subscribe(id(right, caller), caller.filled(right.document))
                    }
                    try streams.subscribe(absent(right), Self.nowhere(right.document))
                }
                for right in LiveRight.all where !right.isNamed { try streams.subscribe(right.name, right.document) }
                listeners.append(Listener(name: name, streams: streams))
            }
        }
        for listener in listeners { try await listener.streams.untilSettled() }
        return listeners
    }

    private func id(_ right: LiveRight, _ caller: Caller) -> String {
        "\(right.name), \(caller.standing) by \(caller.kind)"
    }

    private func absent(_ right: LiveRight) -> String { "\(right.name) that is not there" }

    private static func nowhere(_ document: String) -> String {
        document.replacing("TOPIC", with: "01900000-0000-7000-8000-000000000001")
            .replacing("MESSAGE", with: "01900000-0000-7000-8000-000000000002")
            .replacing("ALARM", with: "01900000-0000-7000-8000-000000000003")
    }

    /// Ada publishes, renames the topic, and opens and acknowledges incidents.
    private func stir(_ topic: String, _ incident: String) async throws {
        let answer = try await scene.installation.curl(
            """
            mutation($t: ID!, $n: String, $i: ID!) {
              createMessage(input: { topicId: $t, type: 1, title: "Ada's secret", body: "b" }) { id }
              updateTopic(input: { id: $t, name: $n, _version: 1 }) { id }
              raiseIncident(input: { topicId: $t, title: "Ada's secret", key: "heard" }) { id }
              acknowledgeIncident(id: $i) { id }
            }
            """,
            ["t": .string(topic), "n": .string("heard \(topic)"), "i": .string(incident)],
            token: scene.ada
        )
        #expect(answer["errors"] == nil, "\(answer)")
    }

    // What came.

    private func checkRefusals(_ listener: Listener) {
        let streams = listener.streams
        for right in LiveRight.all where right.isNamed {
            let absent = streams.refusal(of: absent(right))?.serializedString()
            #expect(absent?.contains("Unauthorized") == true, "\(streams.transport): \(right.name)")
            for caller in callers where caller.name == listener.name {
                let refusal = streams.refusal(of: id(right, caller))?.serializedString()
                let isHeld = right.holders.contains(caller.standing)
                #expect(refusal == (isHeld ? nil : absent), "\(streams.transport), \(id(right, caller))")
            }
        }
        for right in LiveRight.all where !right.isNamed {
            #expect(streams.refusal(of: right.name) == nil, "\(streams.transport), \(listener.name): \(right.name)")
        }
    }

    /// Who named something hears of it and of nothing else.
    private func checkNamed(_ listener: Listener) async throws {
        for right in LiveRight.all where right.isNamed && right.field != "onDelivery" {
            for caller in callers where caller.name == listener.name && right.holders.contains(caller.standing) {
                let id = id(right, caller)
                _ = try await listener.streams.events(of: id) { _ in true }
                guard let place = right.topic else { continue }
                let topics = try listener.streams.events(of: id).map { $0[right.field]?[place] }
                #expect(topics.allSatisfy { $0 == .string(caller.topic) }, "\(listener.streams.transport), \(id)")
            }
        }
    }

    /// Who named nothing hears of all topics in which they have the right, and of no other.
    ///
    /// What was refused has brought nothing meanwhile.
    private func checkAll(_ listener: Listener, marker: String) async throws {
        let streams = listener.streams
        for right in LiveRight.all where !right.isNamed {
            let topicOf = { (event: JSONValue) in right.topic.flatMap { event[right.field]?[$0]?.stringValue } }
            let before = try await streams.events(of: right.name) { topicOf($0) == marker }
            let expected = callers.filter { holds(listener.name, right, $0) }.map(\.topic)
            #expect(Set(before.map(topicOf)) == Set(expected), "\(streams.transport), \(listener.name): \(right.name)")
        }
        for right in LiveRight.all where right.isNamed {
            for caller in callers where caller.name == listener.name && !right.holders.contains(caller.standing) {
                #expect(try streams.events(of: id(right, caller)) == [], "\(streams.transport), \(id(right, caller))")
            }
        }
    }

    /// Whether somebody has a right in the topic of one of the callers, by the table.
    private func holds(_ name: String, _ right: LiveRight, _ caller: Caller) -> Bool {
        if name == "ada" { return right.holders.contains(.owner) }
        guard caller.standing != .owner, caller.name == name || caller.kind == .everybody else { return false }
        return right.holders.contains(caller.standing)
    }
}
