import JSON
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

/// The table of states of docs/incidents.md, each cell tried on stored incidents: what an act
/// leaves, and what the timeline says of it.
@Suite("The table of an incident's states")
struct IncidentTableTests {
    /// What there is before the act.
    private enum Start: String, CaseIterable {
        case nothing, open, acknowledged, snoozed, endedBySender, endedByPerson
    }

    private enum Act: String, CaseIterable {
        case trigger, newTitle, higherPriority
        case senderAcknowledges, sameAcknowledges, otherAcknowledges, unacknowledge, snooze, resolve, senderResolves
        case reopen
    }

    /// The cells by their act, in the order of `Start`: the state, and what the timeline has got;
    /// `-`: nothing.
    private static let table: [Act: [String]] = [
        .trigger: ["OPEN OPENED", "OPEN -", "ACKNOWLEDGED -", "SNOOZED -", "OPEN REOPENED", "RESOLVED LATE"],
        .newTitle: [
            "OPEN OPENED", "OPEN UPDATED", "ACKNOWLEDGED UPDATED", "SNOOZED UPDATED", "OPEN REOPENED", "RESOLVED LATE",
        ],
        .higherPriority: [
            "OPEN OPENED", "OPEN RAISED", "ACKNOWLEDGED RAISED", "OPEN RAISED", "OPEN REOPENED", "RESOLVED LATE",
        ],
        .senderAcknowledges: [
            "none -", "ACKNOWLEDGED ACKNOWLEDGED", "ACKNOWLEDGED -", "ACKNOWLEDGED ACKNOWLEDGED", "RESOLVED -",
            "RESOLVED -",
        ],
        .sameAcknowledges: [
            "none -", "ACKNOWLEDGED ACKNOWLEDGED", "ACKNOWLEDGED -", "ACKNOWLEDGED ACKNOWLEDGED", "RESOLVED -",
            "RESOLVED -",
        ],
        .otherAcknowledges: [
            "none -", "ACKNOWLEDGED ACKNOWLEDGED", "ACKNOWLEDGED JOINED", "ACKNOWLEDGED ACKNOWLEDGED", "RESOLVED -",
            "RESOLVED -",
        ],
        .unacknowledge: [
            "none -", "OPEN -", "OPEN UNACKNOWLEDGED", "SNOOZED -", "RESOLVED -", "RESOLVED -",
        ],
        .snooze: [
            "none -", "SNOOZED SNOOZED", "SNOOZED SNOOZED", "SNOOZED SNOOZED", "RESOLVED -", "RESOLVED -",
        ],
        .resolve: [
            "none -", "RESOLVED RESOLVED", "RESOLVED RESOLVED", "RESOLVED RESOLVED", "RESOLVED -", "RESOLVED -",
        ],
        .senderResolves: [
            "none -", "RESOLVED RESOLVED", "RESOLVED RESOLVED", "RESOLVED RESOLVED", "RESOLVED -", "RESOLVED -",
        ],
        .reopen: ["none -", "OPEN -", "ACKNOWLEDGED -", "SNOOZED -", "OPEN REOPENED", "OPEN REOPENED"],
    ]

    /// Incidents of alice's topic, which bob reads, each by a key of its own.
    private struct Scene {
        let api: APIHarness
        let integration: Integration

        init() async throws {
            let api = try await APIHarness()
            self.api = api
            let topic = try await api.makeTopic()
            let facts = ["alice", "bob"].compactMap {
                UserFacts(of: APIHarness.identity($0), naming: [], at: api.time.now())
            }
            try await api.store.write { writer throws(StoreError) in for facts in facts { try writer.save(facts) } }
            let grant = "mutation($t: ID!) { grantTopic(input: {topicId: $t, user: \"bob\", roles: [READER]}) { id } }"
            let shared = try await api.run(grant, ["t": .string(topic)])
            #expect(shared["errors"] == nil, "\(shared)")
            integration = Integration(
                id: "integration",
                owner: "sub-alice::alice",
                name: "Prometheus",
                kind: .event,
                topicID: TopicID(topic)
            )
        }

        func take(_ action: SenderEvent.Action, _ key: String, _ title: String = "disk", priority: Int = 4) async throws
        {
            var event = SenderEvent(action, key: key, title: title)
            event.priority = priority
            _ = try await api.services.incidents.take([event], from: integration)
        }

        /// The id, the state and the changes of a key's incident; nil: there is none.
        func incident(_ key: String) async throws -> (id: String, state: String, changes: [String])? {
            let query = """
                query($k: String!) { listIncidents(filter: { key: { eq: $k } }) {
                  items { id state timeline { items { change } } } } }
                """
            let answer = try await api.run(query, ["k": .string(key)])
            guard let item = answer["data"]?["listIncidents"]?["items"]?.arrayValue?.first,
                let id = item["id"]?.stringValue, let state = item["state"]?.stringValue
            else { return nil }
            let entries = item["timeline"]?["items"]?.arrayValue ?? []
            return (id, state, entries.compactMap { $0["change"]?.stringValue })
        }

        func prepare(_ start: Start, _ key: String) async throws {
            guard start != .nothing else { return }
            try await take(.trigger, key)
            switch start {
            case .nothing, .open: break
            case .acknowledged: try await apply(.sameAcknowledges, key)
            case .snoozed: try await person("snoozeIncident(id: \"ID\", minutes: 5)", key)
            case .endedBySender: try await take(.resolve, key)
            case .endedByPerson: try await apply(.resolve, key)
            }
        }

        func apply(_ act: Act, _ key: String) async throws {
            switch act {
            case .trigger: try await take(.trigger, key)
            case .newTitle: try await take(.trigger, key, "disk full")
            case .higherPriority: try await take(.trigger, key, priority: 5)
            case .senderAcknowledges: try await take(.acknowledge, key)
            case .senderResolves: try await take(.resolve, key)
            case .sameAcknowledges: try await person("acknowledgeIncident(id: \"ID\")", key)
            case .otherAcknowledges: try await person("acknowledgeIncident(id: \"ID\")", key, as: "bob")
            case .unacknowledge: try await person("unacknowledgeIncident(id: \"ID\")", key)
            case .snooze: try await person("snoozeIncident(id: \"ID\", minutes: 60)", key)
            case .resolve: try await person("resolveIncident(id: \"ID\")", key)
            case .reopen: try await person("reopenIncident(id: \"ID\")", key)
            }
        }

        /// What does not fit the state is refused, and changes nothing.
        private func person(_ mutation: String, _ key: String, as name: String = "alice") async throws {
            guard let id = try await incident(key)?.id else { return }
            let document = "mutation { \(mutation.replacing("ID", with: id)) { state } }"
            let answer = try await api.run(document, as: APIHarness.identity(name))
            let code = answer["errors"]?[0]?["extensions"]?["code"]
            #expect(code == nil || code == "CONFLICT", "\(mutation): \(answer)")
        }
    }

    @Test("each act in each state leaves what the table says, and tells of it once")
    func cells() async throws {
        let scene = try await Scene()
        #expect(Self.table.count == Act.allCases.count)
        for act in Act.allCases {
            for (start, expected) in zip(Start.allCases, Self.table[act] ?? []) {
                let key = "\(act.rawValue)/\(start.rawValue)"
                try await scene.prepare(start, key)
                let before = try await scene.incident(key)?.changes.count ?? 0
                try await scene.apply(act, key)
                let after = try await scene.incident(key)
                let told = after?.changes.dropFirst(before).joined(separator: " ") ?? ""
                let seen = "\(after?.state ?? "none") \(told.isEmpty ? "-" : told)"
                #expect(seen == expected, "\(key)")
            }
        }
    }

    @Test("whom a raised priority rings for: who has acknowledged or joined, until nobody has it; never a sender")
    func responders() async throws {
        let scene = try await Scene()
        let expected: [(acts: [Act], users: [String])] = [
            ([], []), ([.senderAcknowledges], []), ([.sameAcknowledges], ["sub-alice"]),
            ([.sameAcknowledges, .otherAcknowledges, .otherAcknowledges, .higherPriority], ["sub-alice", "sub-bob"]),
            ([.senderAcknowledges, .otherAcknowledges], ["sub-bob"]),
            ([.sameAcknowledges, .newTitle], ["sub-alice"]), ([.sameAcknowledges, .unacknowledge], []),
            ([.sameAcknowledges, .snooze], []), ([.sameAcknowledges, .resolve, .reopen], []),
            ([.sameAcknowledges, .unacknowledge, .otherAcknowledges], ["sub-bob"]),
        ]
        for (number, (acts, users)) in expected.enumerated() {
            let key = "responders/\(number)"
            try await scene.prepare(.open, key)
            for act in acts { try await scene.apply(act, key) }
            let id = try #require(try await scene.incident(key)?.id)
            let facts = try await scene.api.store.read { reader throws(StoreError) in try reader.incidentFacts(id) }
            #expect(facts?.responders.map(\.text) == users, "\(acts)")
        }
    }

    @Test("who sleeps wakes when its time comes, and nobody else")
    func waking() async throws {
        let scene = try await Scene()
        for start in Start.allCases { try await scene.prepare(start, start.rawValue) }
        scene.api.time.advance(seconds: 301)
        let runner = TimerRunner(
            environment: scene.api.environment,
            effects: [IncidentEffect(scene.api.services.incidents)]
        ) { Issue.record("\($0.kind): \($1)") }
        #expect(try await runner.fireDue() == 1)
        var seen: [String] = []
        for start in Start.allCases {
            let incident = try await scene.incident(start.rawValue)
            seen.append("\(incident?.state ?? "none") \(incident?.changes.last ?? "-")")
        }
        #expect(
            seen == [
                "none -", "OPEN OPENED", "ACKNOWLEDGED ACKNOWLEDGED", "OPEN WOKEN", "RESOLVED RESOLVED",
                "RESOLVED RESOLVED",
            ]
        )
    }
}
