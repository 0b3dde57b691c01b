import JSON
import Testing

/// What the role OWNER gives of the ways in to a shared topic.
@Suite("Ways in to shared topics", .timeLimit(.minutes(5)))
struct SharedIntegrationTests {
    /// A server where ada owns `alerts`, and bob is OWNER there until the grant is taken back.
    private struct Scene {
        let scene: ReceiverScene
        let grant: String

        init(_ installation: Installation) async throws {
            scene = try await ReceiverScene(installation)
            let (topic, ada) = (scene.topicID, scene.ada)
            grant = try await installation.share(topic, with: ["user": "bob"], as: ["OWNER"], token: ada)
        }

        /// What bob is answered, with the integration's id left out.
        func bob(_ document: String, _ id: String) async throws -> String {
            let answer = try await scene.installation.curl(document.replacing("WAY", with: id), token: scene.bob)
            return answer.serializedString().replacing(id, with: "WAY")
        }
    }

    /// What can be asked for of one integration.
    private static let operations = [
        "{ getIntegration(id: \"WAY\") { id name kind url keyHint recent { status } } }",
        "{ integrations: listIntegrations(filter: { id: { eq: \"WAY\" } }) { items { id } } }",
        "mutation { rotateIntegrationKey(id: \"WAY\") { url } }",
        "mutation { revokeIntegrationKey(id: \"WAY\", hint: \"aaaa\") { id } }",
        "mutation { setIntegrationSecret(id: \"WAY\", name: SIGNATURE, value: \"s\") { id } }",
        "mutation { updateIntegration(input: { id: \"WAY\", name: \"n\", _version: 1 }) { id } }",
        "mutation { deleteIntegration(input: { id: \"WAY\", _version: 1 }) { id } }",
    ]

    @Test("OWNER sees a way in, posts by a key of it, changes and deletes it; it stays in its topic")
    func managed() async throws {
        try await Installation.run { installation in
            let stage = try await Scene(installation)
            let scene = stage.scene
            let way = try await scene.way("EVENT")
            let key = try await scene.rotated(way.id, token: scene.bob)
            #expect(try await scene.post("/in/\(key.key)", SentBody.event).status == 202)
            try await eventually("bob sees what came in") {
                let seen = try await scene.integration(way.id, "name recent { status body }", token: scene.bob)
                return seen["name"] == "a EVENT" && seen["recent"]?[0]?["status"] == 202
            }
            let list = "{ integrationsByTopicId(topicId: \"\(scene.topicID)\") { items { id } } }"
            #expect(try await stage.bob(list, way.id).contains("WAY"))
            let topic = try await installation.makeTopic("other", token: scene.bob)
            for change in [
                "topicId: \"\(topic)\"", "editors: [\"bob\"]",
                "watchdogs: [{ match: \"{\\\"a\\\": \\\"b\\\"}\", monitorId: \"m\" }]",
            ] {
                let document = "mutation { updateIntegration(input: { id: \"WAY\", \(change), _version: 1 }) { id } }"
                let answer = try await stage.bob(document, way.id)
                #expect(answer.contains("UNAUTHORIZED"), "\(change): \(answer)")
            }
            let rename =
                "mutation { updateIntegration(input: { id: \"WAY\", name: \"n\", _version: 1 }) { name owner } }"
            let renamed = try await stage.bob(rename, way.id)
            #expect(renamed.contains("\"name\":\"n\"") && renamed.contains("ada"), "\(renamed)")
            let delete = "mutation { deleteIntegration(input: { id: \"WAY\", _version: 2 }) { id } }"
            #expect(try await !stage.bob(delete, way.id).contains("errors"))
            #expect(try await scene.post("/in/\(key.key)", SentBody.event).status == 401)
        }
    }

    @Test("what is another topic's, takes pings, or was shared once is answered byte for byte as what is not there")
    func foreign() async throws {
        try await Installation.run { installation in
            let stage = try await Scene(installation)
            let scene = stage.scene
            let topic = try await installation.makeTopic("private", token: scene.ada)
            let (pings, elsewhere) = (
                try await scene.way("HEARTBEAT"), try await scene.way("EVENT", ["topicId": .string(topic)])
            )
            let way = try await scene.way("EVENT")
            let key = try await scene.rotated(way.id, token: scene.bob)
            let absent = "01930000-0000-7000-8000-000000000000"
            for document in Self.operations {
                let expected = try await stage.bob(document, absent)
                for id in [pings.id, elsewhere.id] {
                    #expect(try await stage.bob(document, id) == expected, "\(document)")
                }
            }
            let revoke = "mutation { revokeGrant(id: \"\(stage.grant)\") { id } }"
            let revoked = try await installation.curl(revoke, token: scene.ada)
            #expect(revoked["errors"] == nil, "\(revoked)")
            for document in Self.operations {
                let expected = try await stage.bob(document, absent)
                #expect(try await stage.bob(document, way.id) == expected, "\(document)")
            }
            // The page says so: its owner makes a new key, without an overlap.
            #expect(try await scene.post("/in/\(key.key)", SentBody.event).status == 202)
            _ = try await scene.rotated(way.id, overlapSeconds: 0)
            #expect(try await scene.post("/in/\(key.key)", SentBody.event).status == 401)
        }
    }

    @Test("when an OWNER's grant ends, the others see who made which key, and one command ends it")
    func makers() async throws {
        try await Installation.run { installation in
            let stage = try await Scene(installation)
            let scene = stage.scene
            let carol = try await installation.addUser("carol")
            func share(_ user: String, _ role: String) async throws {
                let shared = try await installation.tocsin(
                    ["topic", "share", "alerts", "--user", user, "--role", role],
                    token: scene.ada
                )
                #expect(shared.status == 0, "\(shared.errors)")
            }
            try await share("carol", "OWNER")
            let way = try await scene.way("EVENT")
            let key = try await scene.rotated(way.id, token: scene.bob)
            let taken = try await installation.tocsin(
                ["topic", "unshare", "alerts", "--user", "bob"],
                token: scene.ada
            )
            #expect(taken.status == 0 && taken.output.contains("tocsin integration key NAME --overlap 0"), "\(taken)")
            let me = try await installation.curl("{ me { userId } }", token: scene.bob)
            let bob = me["data"]?["me"]?["userId"]?.stringValue ?? "\(me)"
            for token in [scene.ada, carol] {
                let listed = try await installation.tocsin(
                    ["audit", "list", "--json", "--actor", bob, "--action", "integration_key.*"],
                    token: token
                )
                let rows = try listed.output.split(separator: "\n").map { try JSONParser.parse($0.utf8) }
                #expect(rows.map { $0["actor"]?.stringValue } == [bob], "\(listed)")
                #expect(rows.map { $0["detail"]?["hint"]?.stringValue } == [String(key.key.prefix(4))], "\(listed)")
                #expect(rows.map { $0["detail"]?["integration"]?.stringValue } == [way.id], "\(listed)")
            }
            #expect(try await scene.post("/in/\(key.key)", SentBody.event).status == 202)
            let made = try await installation.tocsin(
                ["integration", "key", "a EVENT", "--overlap", "0"],
                token: carol
            )
            #expect(made.status == 0, "\(made.errors)")
            #expect(try await scene.post("/in/\(key.key)", SentBody.event).status == 401)
            // Whoever takes less than OWNER is told nothing of keys.
            try await share("bob", "READER")
            let less = try await installation.tocsin(["topic", "unshare", "alerts", "--user", "bob"], token: scene.ada)
            #expect(less.output == "alerts is no longer shared with bob\n", "\(less)")
        }
    }

    @Test("what a token made for its own posts is answered to OWNER byte for byte as what is not there")
    func ownOfToken() async throws {
        try await Installation.run { installation in
            let stage = try await Scene(installation)
            let scene = stage.scene
            let token = try await installation.makeToken(user: "ada", ["--publish", "alerts"])
            let fields = ["Authorization: Bearer \(token)"]
            #expect(try await scene.post("/alerts", "one line", fields).status == 200)
            let list = "{ integrationsByTopicId(topicId: \"\(scene.topicID)\") { items { id } } }"
            let mine = try await installation.curl(list, token: scene.ada)
            let rows = mine["data"]?["integrationsByTopicId"]?["items"]?.arrayValue ?? []
            let id = try #require(rows.first?["id"]?.stringValue, "\(mine)")
            #expect(rows.count == 1 && id.utf8.count == 36, "\(mine)")
            let listed = try await installation.curl(list, token: scene.bob)
            #expect(listed["data"]?["integrationsByTopicId"]?["items"] == [], "\(listed)")
            let absent = "01930000-0000-7000-8000-000000000000"
            for document in Self.operations {
                #expect(try await stage.bob(document, id) == stage.bob(document, absent), "\(document)")
            }
            #expect(try await scene.post("/alerts", "another", fields).status == 200)
            // Its owner may, and it is made anew.
            let off = "mutation { deleteIntegration(input: { id: \"\(id)\", _version: 1 }) { id } }"
            let ended = try await installation.curl(off, token: scene.ada)
            #expect(ended["errors"] == nil, "\(ended)")
            #expect(try await scene.post("/alerts", "a third", fields).status == 200)
            #expect(try await scene.messages().map { $0["body"] } == ["one line", "another", "a third"])
        }
    }

    @Test("who moves a way in to a topic of their own shows it no more to the owner of the one that it left")
    func moved() async throws {
        try await Installation.run { installation in
            let stage = try await Scene(installation)
            let scene = stage.scene
            let way = try await scene.way("EVENT", token: scene.bob)
            #expect(try await scene.integration(way.id, "editors")["editors"] == ["ada"])
            let topic = try await installation.makeTopic("own", token: scene.bob)
            let move = """
                mutation { updateIntegration(input: { id: "WAY", topicId: "\(topic)", _version: 1 }) { editors } }
                """
            let moved = try await stage.bob(move, way.id)
            #expect(moved.contains("[\"bob\"]"), "\(moved)")
            let seen = try await installation.curl("{ getIntegration(id: \"\(way.id)\") { id } }", token: scene.ada)
            #expect(seen["data"]?["getIntegration"] == .null, "\(seen)")
        }
    }

    @Test("who may publish and read, and is not OWNER, manages no way in")
    func others() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let way = try await scene.way("EVENT")
            let roles = ["PUBLISHER", "READER"]
            try await installation.share(scene.topicID, with: ["user": "bob"], as: roles, token: scene.ada)
            for document in Self.operations {
                var answers: Set<String> = []
                for id in [way.id, "01930000-0000-7000-8000-000000000000"] {
                    let answer = try await installation.curl(document.replacing("WAY", with: id), token: scene.bob)
                    answers.insert(answer.serializedString().replacing(id, with: "WAY"))
                }
                #expect(answers.count == 1, "\(document): \(answers)")
            }
        }
    }
}
