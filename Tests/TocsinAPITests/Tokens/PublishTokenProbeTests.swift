import GraphQLTransport
import JSON
import Testing
import TocsinAPI
import TocsinCore

@Suite("A7: what a token that only publishes can find out")
struct PublishTokenProbeTests {
    @Test("no root field shows it a message or another topic, tells either from what is absent, or changes anything")
    func everyRootField() async throws {
        let scene = try await TokenScene()
        let walk = try await SchemaWalk(scene.api)
        let token = try scene.caller(["publish:" + scene.own.topic])
        let before = try await scene.everything()
        var probes = 0
        for field in walk.fields where field.kind != "subscription" {
            // It may publish in its own topic.
            for aim in [scene.own, scene.other]
            where field.name != "createMessage" || aim.topic != scene.own.topic {
                let absents = walk.documents(of: field, at: scene.absent)
                for (document, absent) in zip(walk.documents(of: field, at: aim), absents) {
                    probes += 1
                    let answer = try await scene.api.run(document, as: token)
                    let text = answer.serializedString()
                    for secret in TokenScene.secrets where text.contains(secret) {
                        Issue.record("\(document) shows \(secret): \(text)")
                    }
                    #expect(!text.contains("VALIDATION_FAILED"), "\(document): \(text)")
                    guard aim.topic == scene.other.topic else { continue }
                    let nobodys = try await scene.api.run(absent, as: token).serializedString()
                    #expect(
                        Self.plain(text, scene.other) == Self.plain(nobodys, scene.absent),
                        "\(document) tells what is there from what is not"
                    )
                }
            }
        }
        #expect(probes >= 120, "\(probes)")
        #expect(try await scene.everything() == before)
    }

    /// The answer without the ids that were asked for.
    private static func plain(_ text: String, _ aim: SchemaWalk.Aim) -> String {
        [aim.topic, aim.message, aim.schedule, aim.token, aim.pushToken].reduce(text) { text, id in
            text.split(separator: id, omittingEmptySubsequences: false).joined(separator: "ID")
        }
    }

    @Test(
        "its own topic's relations, cursors and counts show nothing of the messages in it",
        arguments: [
            ("cursor", ""), ("lastNumber", ""), ("members", "{ items { userId } }"),
            ("messages", "{ items { title } }"),
        ]
    )
    func relations(name: String, selection: String) async throws {
        let scene = try await TokenScene()
        let token = try scene.caller(["publish:" + scene.own.topic])
        let seen = try await scene.api.run("{ getTopic(id: \"\(scene.own.topic)\") { name } }", as: token)
        #expect(seen["data"]?["getTopic"]?["name"] == "own", "\(seen)")
        let document = "{ getTopic(id: \"\(scene.own.topic)\") { \(name) \(selection) } }"
        let answer = try await scene.api.run(document, as: token)
        let value = answer["data"]?["getTopic"]?[name] ?? .null
        #expect(value.isNull || value["items"]?.arrayValue?.isEmpty == true, "\(answer)")
        #expect(!answer.serializedString().contains("secret"), "\(answer)")
    }

    @Test("pages and cursors that a full token got are of no use to it")
    func foreignCursors() async throws {
        let scene = try await TokenScene()
        let (full, token) = (try scene.caller(["full"]), try scene.caller(["publish:" + scene.own.topic]))
        let page = try await scene.api.run("{ listMessages(limit: 1) { nextToken items { cursor } } }", as: full)
        let next = try #require(page["data"]?["listMessages"]?["nextToken"]?.stringValue)
        let cursor = try #require(page["data"]?["listMessages"]?["items"]?[0]?["cursor"]?.stringValue)
        for document in [
            "{ listMessages(limit: 1, nextToken: \"\(next)\") { items { title } } }",
            "{ history(limit: 1, nextToken: \"\(next)\") { items { title } } }",
        ] {
            let answer = try await scene.api.run(document, as: token)
            #expect(answer["errors"] != nil && !answer.serializedString().contains("secret"), "\(answer)")
        }
        let document = "subscription { onCreateMessage(after: \"\(cursor)\") { title } }"
        guard case .refused = await scene.api.subscribe(document, as: token).outcome else {
            Issue.record("it may listen")
            return
        }
    }

    @Test("it may listen to nothing", arguments: [true, false])
    func subscriptions(isOwn: Bool) async throws {
        let scene = try await TokenScene()
        let walk = try await SchemaWalk(scene.api)
        let token = try scene.caller(["publish:" + scene.own.topic])
        for field in walk.fields where field.kind == "subscription" {
            for document in walk.documents(of: field, at: isOwn ? scene.own : scene.other, depth: 1) {
                guard case .refused(let errors) = await scene.api.subscribe(document, as: token).outcome else {
                    Issue.record("it may: \(document)")
                    continue
                }
                let text = String(decoding: errors, as: UTF8.self)
                #expect(text.contains("UNAUTHORIZED"), "\(document): \(text)")
            }
        }
    }

    @Test("with several topics it publishes in each of them and in no other, and reads where it may read as well")
    func severalTopics() async throws {
        let scene = try await TokenScene()
        let both = try scene.caller(["publish:" + scene.own.topic, "read:" + scene.other.topic])
        func publish(_ topic: String, _ caller: Identity) async throws -> JSONValue {
            try await scene.api.publish("more", to: topic, as: caller)
        }
        #expect(try await publish(scene.own.topic, both)["id"] != nil)
        #expect(try await publish(scene.other.topic, both)["errors"] != nil)
        let answer = try await scene.api.run("{ listMessages { items { title topicId } } }", as: both)
        let items = answer["data"]?["listMessages"]?["items"]?.arrayValue ?? []
        #expect(Set(items.map { $0["topicId"]?.stringValue }) == [scene.other.topic], "\(answer)")
        let document = "subscription { onCreateMessage(topicId: \"\(scene.other.topic)\") { title } }"
        let (sink, outcome) = await scene.api.subscribe(document, as: both)
        guard case .stream = outcome else {
            Issue.record("it may not listen where it reads")
            return
        }
        try await scene.api.publish("live", to: scene.other.topic, as: try scene.caller(["full"]))
        #expect(try await sink.take(1)[0]["data"]?["onCreateMessage"]?["title"] == "live")
    }
}
