import Testing
import TocsinCore
import TocsinPush
import TocsinStore

@Suite("Pushes of incidents", .timeLimit(.minutes(5)))
struct IncidentPushTests {
    /// The model of incidents, as far as pushes ask for it.
    private static let incidents: ModelType = {
        let columns = ShippedTables.layout(of: "Incident", isShipped: true)
        let fields = ["id", "topicId", "state"].map { name in
            ModelField(
                name: name,
                typeName: "String",
                kind: .text,
                isRequired: false,
                storage: columns.columns[name].map(ModelField.Storage.column) ?? .extra(name)
            )
        }
        return ModelType(
            name: "Incident",
            plural: "Incidents",
            table: columns.table,
            fields: fields,
            indexes: [],
            relations: [],
            rules: []
        )
    }()

    /// An outbox whose store has the incident `i`; Ann has one phone.
    private func with(_ body: (OutboxHarness) async throws -> Void) async throws {
        try await OutboxHarness.with { harness in
            var incident = Record(model: Self.incidents)
            (incident["id"], incident["topicId"], incident["state"]) = (.text("i"), .text("topic-1"), .text("OPEN"))
            let made = incident
            try await harness.store.write { writer throws(StoreError) in
                _ = try writer.insert(made)
                try writer.save(IncidentFacts(source: "s"), of: "i", resolvedAt: nil)
            }
            try await harness.add([Device.sample("d1", token: "aa", user: "ann")])
            try await body(harness)
        }
    }

    private func publish(_ change: IncidentChange, _ id: String, number: Int64, _ harness: OutboxHarness) async throws {
        try await harness.publish(
            id,
            number: number,
            ["incidentId": .text("i"), "incidentChange": .text(change.rawValue), "priority": .int(4)]
        )
    }

    private func answer(upTo number: Int64, _ harness: OutboxHarness) async throws {
        try await harness.store.write { writer throws(StoreError) in
            var facts = IncidentFacts(source: "s")
            facts.answeredNumber = number
            try writer.save(facts, of: "i", resolvedAt: nil)
            try writer.withdrawPushes(ofIncident: "i", now: harness.time.now())
        }
    }

    @Test("what waits when somebody answers ends in that transaction; what is under way is not tried again")
    func withdrawn() async throws {
        try await with { harness in
            harness.transport.answer { _, _ in .unknown(reason: "cut") }
            try await publish(.opened, "m1", number: 1, harness)
            try await harness.running { _ in
                try await harness.deliveries(movingTime: false) { $0.are(1, .waiting) && $0[0].attempts > 0 }
            }
            try await answer(upTo: 2, harness)
            let row = try #require(try await harness.deliveries().first)
            #expect(row.status == .ended && row.reason == .incidentAnswered)
            #expect(harness.history.last?.reason == .incidentAnswered)
        }
        try await with { harness in
            harness.transport.answer { _, _ in nil }
            try await publish(.opened, "m1", number: 1, harness)
            try await harness.running { worker in
                try await harness.wait { !harness.transport.sent.isEmpty }
                worker.cancelPushes(of: "i", upTo: 2)
                harness.transport.release(.unknown(reason: "cut"))
                let rows = try await harness.deliveries(movingTime: false) { $0.are(1, .ended) }
                #expect(rows.map(\.reason) == [.incidentAnswered])
            }
            #expect(harness.transport.sent.count == 1)
        }
    }

    @Test("a fan-out that begins after the answer rings nowhere; what is asked after it does")
    func lateFanout() async throws {
        try await with { harness in
            try await publish(.opened, "m1", number: 1, harness)
            try await answer(upTo: 2, harness)
            try await publish(.reopened, "m3", number: 3, harness)
            try await harness.running { _ in
                let rows = try await harness.deliveries("m1") { $0.are(1, .ended) }
                #expect(rows.map(\.reason) == [.incidentAnswered])
                try await harness.deliveries("m3") { $0.are(1, .accepted) }
            }
            #expect(harness.transport.sent.count == 1)
        }
    }

    @Test("a quiet change whose fan-out begins after the next change is not sent")
    func overtaken() async throws {
        try await with { harness in
            try await publish(.opened, "m1", number: 1, harness)
            try await harness.running { _ in
                try await harness.deliveries("m1") { $0.are(1, .accepted) }
                try await answer(upTo: 3, harness)
                try await publish(.acknowledged, "m2", number: 2, harness)
                try await publish(.resolved, "m3", number: 3, harness)
                let rows = try await harness.deliveries("m2") { $0.are(1, .ended) }
                #expect(rows.map(\.reason) == [.incidentAnswered])
                try await harness.deliveries("m3") { $0.are(1, .accepted) }
            }
            #expect(harness.transport.sent.count == 2)
        }
    }

    @Test("where an older push is taken after a newer one, the newer one is sent once more, and ends on the screen")
    func takenLate() async throws {
        try await with { harness in
            harness.transport.answer { _, _ in nil }
            try await publish(.opened, "m1", number: 1, harness)
            try await harness.running { worker in
                try await harness.deliveries("m1") { $0.are(1, .sending) }
                harness.transport.answer { _, _ in .ok }
                try await answer(upTo: 2, harness)
                try await publish(.resolved, "m2", number: 2, harness)
                worker.wake()
                try await harness.deliveries("m2") { $0.are(1, .accepted) }
                harness.transport.release(.ok)
                try await harness.deliveries("m1") { $0.are(1, .accepted) }
                try await harness.deliveries("m2") { $0.are(1, .accepted) && $0[0].redrivenAt != nil }
            }
            let titles = harness.transport.sent.map { $0.text.contains("m2") }
            #expect(titles == [false, true, true])
        }
    }

    @Test("a newer push that was on its way while an older one was taken is sent once more, and no more than that")
    func takenMeanwhile() async throws {
        try await with { harness in
            harness.transport.answer { _, _ in nil }
            try await publish(.opened, "m1", number: 1, harness)
            try await harness.running { worker in
                try await harness.deliveries("m1") { $0.are(1, .sending) }
                try await answer(upTo: 2, harness)
                harness.transport.answer { sent, _ in sent.text.contains("m2") ? nil : .ok }
                try await publish(.resolved, "m2", number: 2, harness)
                worker.wake()
                try await harness.deliveries("m2") { $0.are(1, .sending) }
                try await take("m1", harness)
                harness.transport.answer { _, _ in .ok }
                harness.transport.release(.ok)
                try await harness.deliveries("m2") { $0.are(1, .accepted) && $0[0].redrivenAt != nil }
            }
            #expect(harness.transport.sent.count { $0.text.contains("m2") } == 2)
        }
    }

    /// Another node, whose clock is a day ahead, writes down that a push was taken.
    private func take(_ message: String, _ harness: OutboxHarness) async throws {
        var row = try #require(try await harness.deliveries(message).first)
        let lease = try #require(row.leaseUntil)
        (row.status, row.leaseUntil, row.updatedAt) = (.accepted, nil, harness.time.now().adding(seconds: 86_400))
        let taken = row
        try await harness.store.write { writer throws(StoreError) in
            #expect(try writer.record(taken, heldUntil: lease))
        }
    }

    @Test("a quiet change replaces the notification where there is one, and goes to no other device")
    func replaced() async throws {
        try await with { harness in
            try await publish(.opened, "m1", number: 1, harness)
            try await harness.running { worker in
                try await harness.deliveries("m1") { $0.are(1, .accepted) }
                try await harness.add([Device.sample("d2", token: "bb", user: "bob")])
                try await publish(.acknowledged, "m2", number: 2, harness)
                worker.wake()
                let rows = try await harness.deliveries("m2") { $0.are(2, .accepted, .skipped) }
                #expect(rows.map(\.status) == [.accepted, .skipped])
                #expect(rows.last?.reason == .incidentUnseen)
            }
            let collapsed = Set(harness.transport.sent.map { $0.header("apns-collapse-id") })
            #expect(harness.transport.sent.count == 2 && collapsed.count == 1)
        }
    }

    /// Notes who has acknowledged the incident.
    private func acknowledge(by users: String..., harness: OutboxHarness) async throws {
        let memory = users.map { "responder=" + $0 }.joined(separator: "\n")
        try await harness.store.write { writer throws(StoreError) in
            var facts = IncidentFacts(source: "s")
            facts.memory = memory
            try writer.save(facts, of: "i", resolvedAt: nil)
        }
    }

    /// How each push sounded, in the order of tokens: `aa default`, `bb -`.
    private func sounds(_ harness: OutboxHarness) -> [String] {
        harness.transport.sent.map { sent in
            let isQuiet = !sent.text.contains("\"sound\":") && sent.text.contains("\"passive\"")
            return sent.token + (isQuiet ? " quiet" : sent.text.contains("\"sound\":") ? " rings" : " ?")
        }.sorted()
    }

    @Test("a raised priority rings for who has acknowledged, and is shown quietly to the others, also when tried again")
    func raised() async throws {
        try await with { harness in
            try await harness.add([Device.sample("d2", token: "bb", user: "bob")])
            try await harness.add([Device.sample("d3", token: "cc", user: "cat")])
            try await acknowledge(by: "ann", "cat", harness: harness)
            harness.transport.answer { sent, earlier in
                sent.token == "bb" && earlier == 0 ? .unknown(reason: "cut") : .ok
            }
            let data = FieldValue.json("{\"incidentPriority\":\"5\"}")
            try await harness.publish(
                "m1",
                number: 1,
                [
                    "incidentId": .text("i"), "incidentChange": .text("RAISED"), "priority": .int(5), "data": data,
                    "push": .json("{\"sound\":\"siren.caf\",\"interruptionLevel\":\"time-sensitive\"}"),
                ]
            )
            try await harness.running { _ in try await harness.deliveries("m1") { $0.are(3, .accepted) } }
            #expect(sounds(harness) == ["aa rings", "bb quiet", "bb quiet", "cc rings"])
        }
    }

    @Test(
        "a raised priority rings for all where nobody has acknowledged who can be reached",
        arguments: ["nobody", "away", "asleep"]
    )
    func raisedForAll(_ responder: String) async throws {
        try await with { harness in
            try await harness.add([Device.sample("d2", token: "bb", user: "bob")])
            switch responder {
            case "nobody": break
            case "away": try await acknowledge(by: "dan", harness: harness)
            default:
                try await acknowledge(by: "ann", harness: harness)
                var settings = UserSettings(userID: UserID("ann"))
                settings.doNotDisturbUntil = harness.time.now().adding(seconds: 8 * 3600)
                let quiet = settings
                try await harness.store.write { writer throws(StoreError) in try writer.save(quiet) }
            }
            try await publish(.raised, "m1", number: 1, harness)
            try await harness.running { _ in
                try await harness.deliveries("m1", movingTime: false) { rows in
                    rows.count == 2 && rows.contains { $0.status == .accepted }
                        && rows.allSatisfy { $0.status == .accepted || $0.reason == .quietHours }
                }
            }
            #expect(sounds(harness) == (responder == "asleep" ? ["bb rings"] : ["aa rings", "bb rings"]))
        }
    }
}
