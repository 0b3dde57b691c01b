import JSON
import Testing
import TocsinClient

/// What operators do about devices and memberships, beside the running server.
@Suite("Commands about devices and members", .timeLimit(.minutes(5)))
struct PushCommandTests {
    private static func objects(_ output: String) throws -> [JSONValue] {
        try output.split(separator: "\n").map { try JSONParser.parse(String($0)) }
    }

    @Test("devices are listed for people and for programs, without their tokens; ended ones get nothing more")
    func devices() async throws {
        try await AccessScene.run(topic: AccessScene.forAll, message: AccessScene.forAll) { scene in
            let installation = scene.installation
            _ = try await scene.addBob()
            let all = try Self.objects(try await installation.administer(["device", "list", "--json"]))
            #expect(Set(all.map { $0["user"] }) == ["ada", "bob"] && all.count == 2, "\(all)")
            let ofBob = try await installation.administer(["device", "list", "--user", "bob"])
            #expect(ofBob.contains("\tbob\tios\tactive\tbob's\n") && !ofBob.contains("ada"), "\(ofBob)")
            #expect(!ofBob.contains(AccessScene.phoneOfBob) && !"\(all)".contains(AccessScene.phoneOfAda))

            let simulator = try #require(installation.simulator)
            try await simulator.post("/_outage?provider=apns&kind=unavailable")
            let waiting = try await scene.publish("waiting")
            try await eventually("it waits for both phones") {
                try await scene.outcomes(waiting).values.count { $0.hasPrefix("WAITING") } == 2
            }
            let id = try #require(all.first { $0["user"] == "bob" }?["id"]?.stringValue)
            #expect(try await installation.administer(["device", "end", id]) == "Ended device \(id) of bob.\n")
            try await simulator.post("/_outage?provider=apns&kind=none")
            try await scene.until(waiting, ["ada's": "ACCEPTED", "?": "ENDED ACCESS_ENDED"])
            #expect(try await scene.titles(on: AccessScene.phoneOfBob) == [])

            let again = try await installation.attempt(["device", "end", id])
            #expect(again.status == 1 && again.errors.contains("There is no device \(id)."), "\(again)")
            let output = try await installation.administer(["device", "end", "--user", "ada", "--json"])
            let ended = try Self.objects(output)
            #expect(ended.map { $0["user"] } == ["ada"])
            #expect(try await installation.administer(["device", "list"]) == "")
            let none = try await installation.administer(["device", "end", "--user", "ada"])
            #expect(none == "There are no devices.\n")
        }
    }

    @Test("members are listed by a topic's name or id and removed once; what waits for them ends")
    func members() async throws {
        try await AccessScene.run(topic: AccessScene.forAll, message: AccessScene.forAll) { scene in
            let installation = scene.installation
            _ = try await scene.addBob()
            let byName = try Self.objects(try await installation.administer(["member", "list", "alerts", "--json"]))
            #expect(Set(byName.map { $0["user"] }) == ["ada", "bob"] && byName.allSatisfy { $0["push"] == true })
            let byID = try await installation.administer(["member", "list", scene.topicID])
            #expect(byID.contains("\tbob\tpush\t"), "\(byID)")
            let removed = try await installation.administer(["member", "remove", "alerts", "bob"])
            #expect(removed == "Removed bob from alerts.\n")
            try await scene.until(try await scene.publish("after"), ["ada's": "ACCEPTED"])
            let again = try await installation.attempt(["member", "remove", "alerts", "bob"])
            #expect(again.status == 1 && again.errors.contains("bob is no member of alerts."), "\(again)")
            let json = try await installation.administer(["member", "remove", scene.topicID, "ada", "--json"])
            #expect(try Self.objects(json).first?["topicId"] == .string(scene.topicID))
        }
    }

    private static let failures: [(status: Int32, arguments: [String], reason: String)] = [
        (1, ["device", "list", "--user", "nobody"], "There is no user nobody."),
        (1, ["device", "end", "--user", "nobody"], "There is no user nobody."),
        (2, ["device", "end"], "Give a device's id, or --user."),
        (2, ["device", "end", "some", "--user", "ada"], "Give a device's id, or --user."),
        (1, ["member", "list", "nowhere"], "There is no topic nowhere."),
        (2, ["member", "list"], "<topic>"),
        (1, ["member", "remove", "twice", "ada"], "Several topics are named twice; give an id."),
        (1, ["member", "remove", "alerts", "nobody"], "There is no user nobody."),
        (2, ["member", "remove", "alerts"], "<user>"),
    ]

    @Test("what fails ends with 1, wrong use with 2, both with a sentence on standard error")
    func failures() async throws {
        try await AccessScene.run(topic: AccessScene.forAll, message: AccessScene.forAll) { scene in
            let bob = try scene.installation.makeClient(token: try await scene.addBob())
            let create = "mutation { createTopic(input: { name: \"twice\" }) { id } }"
            for client in [scene.ada, bob] { _ = try await client.mutate(create) }
            for (status, arguments, reason) in Self.failures {
                let result = try await scene.installation.attempt(arguments)
                #expect(result.status == status, "\(arguments): \(result)")
                #expect(result.errors.contains(reason), "\(arguments): \(result.errors)")
                #expect(result.output.isEmpty)
            }
        }
    }
}
