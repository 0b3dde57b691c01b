import Foundation
import JSON
import Testing

@Suite("Buttons of ntfy that call, as served", .timeLimit(.minutes(5)))
struct ButtonCallTests {
    private static let publicURL = "https://push.example"
    private static let secrets = ["urlSecret", "headerSecret", "bodySecret"]

    /// Ada with a way in that allows calls, and what is called.
    private struct Stage {
        let scene: ReceiverScene
        let way: ReceiverScene.Way
        let target: Receiver
        var installation: Installation { scene.installation }
        var base: String { "http://127.0.0.1:\(target.port)" }

        /// A button in the short form, with secrets in address, header and body.
        func button(_ path: String = "/gate", _ more: String = "") -> String {
            "http, Open, \(base)\(path)?key=urlSecret, method=put, headers.Authorization=Bearer headerSecret, "
                + "headers.X-A=b, body=bodySecret, clear=true\(more)"
        }

        /// Posts a message with actions; answers its id.
        func publish(_ actions: String, to way: ReceiverScene.Way? = nil) async throws -> String {
            let key = (way ?? self.way).key
            let answer = try await scene.post(
                "/alerts",
                "ring",
                ["Authorization: Bearer \(key)", "Actions: \(actions)"]
            )
            let id = try answer.json["id"]?.stringValue ?? ""
            guard answer.status == 200, !id.isEmpty else { throw HarnessFailure(answer.body) }
            return id
        }

        /// A browser of somebody's.
        func subscribe(_ token: String) async throws {
            let simulator = try #require(installation.simulator)
            let subscription = try await simulator.subscribe()
            let answer = try await installation.curl(
                "mutation($t: String!) { registerPushToken(token: $t, platform: \"web\") { userId } }",
                ["t": .string(subscription.serializedString())],
                token: token
            )
            guard answer["errors"] == nil else { throw HarnessFailure("\(answer)") }
        }

        /// The payloads of a message's pushes, once there are so many.
        func payloads(of message: String, _ count: Int) async throws -> [JSONValue] {
            let simulator = try #require(installation.simulator)
            return try await eventually("\(count) pushes of \(message)") { () -> [JSONValue]? in
                let all = try await simulator.pushes().filter(\.isAccepted).compactMap { $0.record["payload"] }
                let found = all.filter { $0.serializedString().contains(message) }
                return found.count == count ? found : nil
            }
        }

        /// The path of the link that a browser's push has for the button.
        func path(_ payload: JSONValue) throws -> String {
            let links = payload["notification"]?["data"]?["links"]
            let url = try #require(links?["http1"]?.stringValue, "\(payload)")
            #expect(url.hasPrefix(ButtonCallTests.publicURL + "/act/"))
            return String(url.dropFirst(ButtonCallTests.publicURL.count))
        }

        func tap(_ path: String) async throws -> HTTPAnswer {
            try await installation.http(path, ["--request", "POST"])
        }

        func press(_ message: String, token: String? = nil) async throws -> JSONValue {
            try await installation.curl(
                "mutation($m: ID!) { pressButton(messageId: $m, id: \"http1\") { isDone status problem } }",
                ["m": .string(message)],
                token: token ?? scene.ada
            )
        }

        func problem(_ message: String) async throws -> String {
            let answer = try await press(message)
            let pressed = answer["data"]?["pressButton"]
            #expect(pressed?["isDone"] == false, "\(answer)")
            return pressed?["problem"]?.stringValue ?? "status \(pressed?["status"]?.intValue ?? 0)"
        }
    }

    private func run(
        allowsLoopback: Bool = true,
        _ answer: @escaping @Sendable (_ path: String, _ earlier: Int) -> String? = { _, _ in Receiver.empty(204) },
        _ body: (Stage) async throws -> Void
    ) async throws {
        let target = try Receiver(saying: answer)
        try await Installation.run { installation in
            installation.options += ["--public-url", Self.publicURL]
            if allowsLoopback { installation.environment["TOCSIN_WEBHOOKS_ALLOW_LOOPBACK"] = "true" }
        } _: { installation in
            let scene = try await ReceiverScene(installation)
            let way = try await scene.way("NTFY", ["allowHttpActions": true])
            try await body(Stage(scene: scene, way: way, target: target))
        }
    }

    @Test("a browser's button makes the call by a link of its own person: to look at it does nothing, a replay neither")
    func browser() async throws {
        try await run { _, earlier in
            Receiver.empty(earlier == 0 ? 503 : 204)
        } _: { stage in
            try await stage.subscribe(stage.scene.ada)
            let message = try await stage.publish(stage.button())
            let payload = try await stage.payloads(of: message, 1)[0]
            for secret in Self.secrets + [stage.base] { #expect(!payload.serializedString().contains(secret)) }
            #expect(payload["notification"]?["actions"]?[0]?["action"] == "http1", "\(payload)")
            let path = try stage.path(payload)
            for _ in 0..<2 {
                let page = try await stage.installation.http(path)
                #expect(page.status == 200 && page.body.contains("<button>Open</button>"), "\(page.body)")
                #expect(page.body.contains("alerts") && page.header("referrer-policy") == "no-referrer")
                for secret in Self.secrets { #expect(!page.body.contains(secret)) }
            }
            #expect(stage.target.everything.isEmpty, "to look does nothing")

            #expect(try await stage.tap(path).status == 303)
            let failed = try await stage.installation.http(path)
            #expect(failed.body.contains("status 503") && failed.body.contains("<button>"), "\(failed.body)")
            for _ in 0..<3 { #expect(try await stage.tap(path).status == 303) }
            let done = try await stage.installation.http(path)
            #expect(done.status == 200 && done.body.contains("Done") && !done.body.contains("<button>"), "\(done.body)")
            let calls = stage.target.everything
            #expect(calls.count == 2, "one that failed, one that did not")
            #expect(calls.allSatisfy { $0.method == "PUT" && $0.path == "/gate?key=urlSecret" })
            #expect(
                calls.allSatisfy { $0.headers["authorization"] == "Bearer headerSecret" && $0.headers["x-a"] == "b" }
            )
            #expect(calls.allSatisfy { $0.body == Array("bodySecret".utf8) && $0.headers["content-type"] == nil })

            let listed = try await stage.installation.tocsin(
                ["audit", "list", "--json", "--action", "button.press"],
                token: stage.scene.ada
            )
            let rows = listed.output.split(separator: "\n")
            #expect(rows.count == 2 && rows.allSatisfy { $0.contains(message) && $0.contains("http1") }, "\(listed)")
            #expect(listed.output.contains("503") && listed.output.contains("204"), "\(listed)")
            _ = try await stage.installation.stopServer()
            let token = path.dropFirst("/act/".count)
            for secret in Self.secrets + [stage.base, String(token.prefix(60))] {
                #expect(!stage.installation.log.contains(secret), "\(secret) stands in the log")
                #expect(!listed.output.contains(secret), "\(secret) stands in the audit")
            }
        }
    }

    @Test("a phone's push marks the button, and the app presses it with its user's token")
    func phone() async throws {
        try await run { stage in
            let registered = try await stage.installation.curl(
                "mutation($t: String!) { registerPushToken(token: $t, platform: \"ios\") { userId } }",
                ["t": .string(PushScene.phone("ab"))],
                token: stage.scene.ada
            )
            #expect(registered["errors"] == nil, "\(registered)")
            let message = try await stage.publish(stage.button() + "; view, Look, https://a.example")
            let payload = try await stage.payloads(of: message, 1)[0]
            let actions: JSONValue = [
                ["id": "http1", "title": "Open", "call": true],
                ["id": "view2", "title": "Look", "url": "https://a.example"],
            ]
            #expect(payload["actions"] == actions, "\(payload)")
            for secret in Self.secrets { #expect(!payload.serializedString().contains(secret)) }
            #expect(try await stage.press(message, token: stage.scene.bob).errorCode == "UNAUTHORIZED")
            #expect(try await stage.press("none", token: stage.scene.bob).errorCode == "UNAUTHORIZED")
            #expect(stage.target.everything.isEmpty)
            #expect(try await stage.press(message)["data"]?["pressButton"]?["status"] == 204)
            #expect(stage.target.everything.count == 1)
        }
    }

    @Test("what answers with a redirect, with too much or not at all is a failure, and nothing follows")
    func targets() async throws {
        let long = String(repeating: "x", count: 1 << 20)
        try await run { path, _ in
            switch path.prefix(5) {
            case "/move": Receiver.empty(302, "Location: http://169.254.169.254/latest\r\n")
            case "/long": "HTTP/1.1 200 OK\r\nContent-Length: \(long.utf8.count)\r\nConnection: close\r\n\r\n" + long
            default: nil
            }
        } _: { stage in
            let told = [("/move", "status 302"), ("/long", "larger than"), ("/hang", "in time")]
            for (path, words) in told {
                let problem = try await stage.problem(try await stage.publish(stage.button(path)))
                #expect(problem.contains(words), "\(path): \(problem)")
            }
            #expect(stage.target.everything.count == told.count)
        }
    }

    @Test("a call without a body says that it has none, and an address that cannot be read is told as one")
    func withoutBody() async throws {
        try await run { stage in
            for method in ["put", "patch", "post"] {
                let message = try await stage.publish("http, Open, \(stage.base)/\(method), method=\(method)")
                #expect(try await stage.press(message)["data"]?["pressButton"]?["status"] == 204)
            }
            let calls = stage.target.everything
            #expect(calls.count == 3 && calls.allSatisfy { $0.headers["content-length"] == "0" }, "\(calls)")
            let message = try await stage.publish("http, Open, http://127.0.0.1:99999/")
            #expect(try await stage.problem(message) == "its address cannot be read")
        }
    }

    @Test("addresses of private networks are not called, however they are written")
    func privateAddresses() async throws {
        try await run { stage in
            let port = stage.target.port
            for host in [
                "10.0.0.1", "192.168.1.1", "169.254.169.254", "[fe80::1]", "0.0.0.0", "[::ffff:127.0.0.1]:\(port)",
            ] {
                let message = try await stage.publish("http, Open, http://\(host)/secretPath")
                let problem = try await stage.problem(message)
                #expect(problem == "its address is not of the public internet", "\(host): \(problem)")
            }
            #expect(stage.target.everything.isEmpty)
        }
    }

    @Test("this machine is not called unless webhooks may be here")
    func loopback() async throws {
        try await run(allowsLoopback: false) { stage in
            let port = stage.target.port
            for host in ["127.0.0.1", "localhost", "127.1", "2130706433", "[::1]"] {
                let problem = try await stage.problem(try await stage.publish("http, Open, http://\(host):\(port)/"))
                #expect(problem == "its address is not of the public internet", "\(host): \(problem)")
            }
            #expect(stage.target.everything.isEmpty)
        }
    }

    @Test(
        "a call that the server would not make is left out of a message that comes all the same, and its owner is told"
    )
    func leftOut() async throws {
        try await run { stage in
            let calls: [(member: String, words: String)] = [
                (#""headers": {"X-A": "b\r\nHost: evil.example"}"#, "characters"),
                (#""headers": {"X-A: b\r\nHost": "evil.example"}"#, "characters"),
                (#""headers": {"Host": "evil.example"}"#, "host"),
                (#""headers": {"Transfer-Encoding": "chunked"}"#, "transfer-encoding"),
                (#""method": "TRACE""#, "method"), (#""body": "\#(String(repeating: "x", count: 5000))""#, "body"),
            ]
            let key = "Authorization: Bearer \(stage.way.key)"
            for (member, words) in calls {
                let action = #"{"action": "http", "label": "Open", "url": "\#(stage.base)", \#(member)}"#
                let body = #"{"topic": "alerts", "message": "ring", "actions": [\#(action)]}"#
                let answer = try await stage.scene.post("/", body, [key])
                let id = try answer.json["id"]?.stringValue ?? ""
                #expect(answer.status == 200 && !id.isEmpty, "\(answer.body)")
                #expect(try await stage.press(id).errorCode == "UNAUTHORIZED")
                try await eventually("trouble with \(words)") {
                    let trouble = try await stage.scene.integration(stage.way.id, "trouble")["trouble"]?.stringValue
                    return trouble?.contains("\"Open\" was left out") == true && trouble?.contains(words) == true
                }
            }
            #expect(stage.target.everything.isEmpty)
        }
    }

    @Test("what came in is shown without what buttons ask for, whatever was answered")
    func recent() async throws {
        try await run { stage in
            let key = "Authorization: Bearer \(stage.way.key)"
            let call = #""url": "\#(stage.base)/?k=urlSecret", "headers": {"X": "headerSecret"}, "body": "bodySecret""#
            let look = #"{"action": "view", "label": "Look", "url": "https://a.example"}"#
            for (label, status) in [("Open", 200), ("", 400)] {
                let action = #"{"action": "HTTP", "label": "\#(label)", \#(call)}"#
                let body = #"{"topic": "alerts", "message": "ring", "actions": [\#(action), \#(look)]}"#
                let answer = try await stage.scene.post("/", body, [key])
                #expect(answer.status == status, "\(answer.body)")
            }
            let shown = try await eventually("both requests") { () -> String? in
                let recent = try await stage.scene.integration(stage.way.id, "recent { body }")["recent"]
                return recent?.arrayValue?.count == 2 ? recent?.serializedString() : nil
            }
            #expect(shown.contains("ring") && shown.contains("https://a.example"), "\(shown)")
            for secret in Self.secrets { #expect(!shown.contains(secret), "\(shown)") }
        }
    }

    @Test("where calls are not allowed the button is a link, and where they are no more it does nothing")
    func notAllowed() async throws {
        try await run { stage in
            let usual = try await stage.scene.way("NTFY")
            let message = try await stage.publish("http, Open, \(stage.base)/gate", to: usual)
            #expect(try await stage.press(message).errorCode == "UNAUTHORIZED")
            let answer = try await stage.installation.curl(
                "{ listMessages { items { data } } }",
                token: stage.scene.ada
            )
            #expect("\(answer)".contains("/gate"), "\(answer)")
            try await eventually("trouble") {
                let trouble = try await stage.scene.integration(usual.id, "trouble")["trouble"]?.stringValue
                return trouble?.contains("is a link") == true
            }
            try await stage.subscribe(stage.scene.ada)
            let allowed = try await stage.publish(stage.button())
            let path = try stage.path(try await stage.payloads(of: allowed, 1)[0])
            let changed = try await stage.installation.curl(
                """
                mutation($id: ID!) {
                  updateIntegration(input: { id: $id, allowHttpActions: false, _version: 1 }) { id } }
                """,
                ["id": .string(stage.way.id)],
                token: stage.scene.ada
            )
            #expect(changed["errors"] == nil, "\(changed)")
            for answer in [try await stage.tap(path), try await stage.installation.http(path)] {
                #expect(answer.status == 410, "\(answer)")
            }
            #expect(try await stage.press(allowed).errorCode == "UNAUTHORIZED")
            #expect(stage.target.everything.isEmpty)
        }
    }

    @Test("the link of a reader dies with the right to read, and a changed one means nothing")
    func revoked() async throws {
        try await run { stage in
            try await stage.subscribe(stage.scene.bob)
            let grant = try await stage.installation.share(
                stage.scene.topicID,
                with: ["user": "bob", "push": true],
                as: ["READER"],
                token: stage.scene.ada
            )
            let message = try await stage.publish(stage.button())
            let path = try stage.path(try await stage.payloads(of: message, 1)[0])
            var changed = Array(path)
            changed[40] = changed[40] == "A" ? "B" : "A"
            #expect(try await stage.tap(String(changed)).status == 404)
            let revoked = try await stage.installation.curl(
                "mutation($id: ID!) { revokeGrant(id: $id) { id } }",
                ["id": .string(grant)],
                token: stage.scene.ada
            )
            #expect(revoked["errors"] == nil, "\(revoked)")
            for answer in [try await stage.tap(path), try await stage.installation.http(path)] {
                #expect(answer.status == 410 && !answer.body.contains("Open"), "\(answer)")
            }
            #expect(stage.target.everything.isEmpty)
        }
    }

    @Test("the command lets an integration call, and shows it")
    func command() async throws {
        try await run { stage in
            let made = try await stage.installation.tocsin(
                ["integration", "add", "gate", "--kind", "ntfy", "--topic", "alerts", "--allow-http-actions"],
                token: stage.scene.ada
            )
            #expect(made.status == 0, "\(made)")
            let shown = try await stage.installation.tocsin(["integration", "show", "gate"], token: stage.scene.ada)
            #expect(shown.output.contains("allowHttpActions\ttrue"), "\(shown)")
        }
    }
}
