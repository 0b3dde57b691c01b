import Foundation
import JSON
import Testing

/// What is shared with some shows nothing of it to others.
@Suite("What is shared with others", .timeLimit(.minutes(5)))
struct SharedIsolationTests {
    @Test("answers as what does not exist, to strangers, to other groups and to who has lost it")
    func isolation() async throws {
        try await SharedScene.run { scene in
            let (topic, message) = try await scene.makeTopic("alerts")
            let bob = try await scene.installation.addUser("bob")
            let grant = try await scene.share(topic, with: ["user": "bob"], as: ["READER", "PUBLISHER"])
            try await scene.share(topic, with: ["group": "ops"], as: ["READER"])
            let dora = try await scene.token(of: "dora", in: ["dev"])
            let lost = try await scene.share(topic, with: ["group": "lost"], as: ["OWNER"])
            let eve = try await scene.token(of: "eve", in: ["lost", "OPS"])
            try await revoke(lost, scene)
            let reads = #"{ getMessage(id: "\#(message)") { title } }"#
            #expect(try await scene.installation.curl(reads, token: bob)["data"]?["getMessage"] != .null)
            let there = [
                "TOPIC": topic, "MESSAGE": message, "GRANT": grant, "NAME": "alerts",
                "ALARM": try await scene.raise(in: topic),
                "INTEGRATION": try await scene.make("Integration", ["kind": "EVENT", "topicId": .string(topic)]),
                "MONITOR": try await scene.make(
                    "Monitor",
                    ["slug": "m", "periodSeconds": 60, "topicId": .string(topic)]
                ),
                "DIGEST": try await scene.make(
                    "Digest",
                    ["topicIds": [.string(topic)], "at": "08:00", "timeZone": "UTC"]
                ),
            ]
            let nowhere = [
                "TOPIC": "01900000-0000-7000-8000-000000000001", "MESSAGE": "01900000-0000-7000-8000-000000000002",
                "GRANT": "01900000-0000-7000-8000-000000000004", "NAME": "nobodys",
                "ALARM": "01900000-0000-7000-8000-000000000005", "INTEGRATION": "01900000-0000-7000-8000-000000000006",
                "MONITOR": "01900000-0000-7000-8000-000000000007", "DIGEST": "01900000-0000-7000-8000-000000000008",
            ]
            for (name, token) in [("dora", dora), ("eve", eve)] {
                try await compare(there, nowhere, token, name, Probe.all, scene)
            }
            // Who may only publish is told of the topic's name, and of nothing that is in it.
            try await scene.share(topic, with: ["group": "dev"], as: ["PUBLISHER"])
            let aboutMessages = Probe.all.filter { $0.document.contains("MESSAGE") }
            #expect(aboutMessages.count > 3)
            try await compare(there, nowhere, dora, "a publisher", aboutMessages, scene)
            try await revoke(grant, scene)
            // What was done to bob is his to see.
            let others = Probe.all.filter { !["me", "auditEvents"].contains($0.field) }
            try await compare(there, nowhere, bob, "bob", others, scene)
        }
    }

    private func revoke(_ grant: String, _ scene: SharedScene) async throws {
        let answer = try await scene.installation.curl(
            "mutation($id: ID!) { revokeGrant(id: $id) { id } }",
            ["id": .string(grant)],
            token: scene.ada
        )
        #expect(answer["errors"] == nil, "\(answer)")
    }

    /// Each answer about what is there and about what is not must be the same bytes.
    private func compare(
        _ there: [String: String],
        _ nowhere: [String: String],
        _ token: String,
        _ name: String,
        _ probes: [Probe],
        _ scene: SharedScene
    ) async throws {
        for probe in probes where !probe.document.contains("SCHEDULE") && !probe.document.contains("TOKEN") {
            let foreign = try await answer(probe, there, token, scene)
            let absent = try await answer(probe, nowhere, token, scene)
            #expect(foreign == absent, "\(probe.field) tells \(name) foreign from absent")
            #expect(!foreign.contains("Ada's secret") && !foreign.contains("\"alerts\""), "\(probe.field): \(foreign)")
        }
    }

    private func answer(
        _ probe: Probe,
        _ values: [String: String],
        _ token: String,
        _ scene: SharedScene
    ) async throws -> String {
        var document = probe.document
        for (word, value) in values { document = document.replacing(word, with: value) }
        var answer = try await scene.installation.curl(document, token: token).serializedString()
        for (word, value) in values { answer = answer.replacing(value, with: word) }
        return answer
    }
}
