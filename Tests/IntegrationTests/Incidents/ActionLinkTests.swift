import Foundation
import JSON
import Testing

@Suite("Action links and webhooks of incidents", .timeLimit(.minutes(5)))
struct ActionLinkTests {
    private static let publicURL = "https://push.example"

    /// Ada with a way in, and a receiver that is told of incidents, links included.
    private struct Stage {
        let scene: ReceiverScene
        let way: ReceiverScene.Way
        let receiver: Receiver
        var installation: Installation { scene.installation }

        func say(_ action: String, key: String = "db-1") async throws {
            let title = #"Disk <full> & \"slow\""#
            let body =
                #"{"action":"\#(action)","key":"\#(key)","title":"\#(title)","body":"91 %","severity":"critical"}"#
            let answer = try await scene.post("/in/\(way.key)", body)
            guard (200..<300).contains(answer.status) else { throw HarnessFailure(answer.body) }
        }

        func act(_ arguments: String...) async throws {
            let answer = try await installation.tocsin(arguments, token: scene.ada)
            guard answer.status == 0 else { throw HarnessFailure(answer.errors) }
        }

        /// Events that have come to a path.
        func events(_ path: String = "/all") -> [JSONValue] {
            receiver.requests(path).compactMap { try? JSONParser.parse($0.body) }
        }

        /// The event of a type, once it has come.
        func event(_ type: String, _ path: String = "/all", after count: Int = 0) async throws -> JSONValue {
            try await eventually("\(type) has come") {
                events(path).count { $0["type"]?.stringValue == type } > count
            }
            return events(path).last { $0["type"]?.stringValue == type } ?? .null
        }

        /// The path of a link of an event.
        func link(_ event: JSONValue, _ action: String) throws -> String {
            let url = try #require(event["data"]?["actions"]?[action]?.stringValue, "\(event)")
            #expect(url.hasPrefix(ActionLinkTests.publicURL + "/act/"))
            return String(url.dropFirst(ActionLinkTests.publicURL.count))
        }

        func press(_ path: String) async throws -> HTTPAnswer {
            try await installation.http(path, ["--request", "POST"])
        }

        func state() async throws -> JSONValue {
            let answer = try await installation.tocsin(["incident", "alerts#1", "--json"], token: scene.ada)
            return try JSONParser.parse(answer.output)
        }
    }

    private func run(_ body: (Stage) async throws -> Void) async throws {
        let receiver = try Receiver { _, _ in 204 }
        try await Installation.run { installation in
            let secret = Data((0..<32).map { UInt8($0) }).base64EncodedString()
            func table(_ path: String, _ more: String) -> String {
                """
                [[webhooks]]
                name = "\(path)"
                url = "http://127.0.0.1:\(receiver.port)/\(path)"
                secret = "whsec_\(secret)"
                \(more)

                """
            }
            let file = installation.folder + "/tocsin.toml"
            let tables = [
                table("all", "events = [\"incident.*\"]\ninclude-actions = true\ninclude-texts = true"),
                table("few", "events = [\"incident.opened\", \"incident.resolved\"]\ntopics = [\"alerts\"]"),
                table("elsewhere", "events = [\"incident.*\"]\ntopics = [\"elsewhere\"]"),
                table("usual", ""),
            ]
            try tables.joined().write(toFile: file, atomically: true, encoding: .utf8)
            installation.options += ["--config", file, "--public-url", Self.publicURL]
            installation.environment["TOCSIN_WEBHOOKS_ALLOW_LOOPBACK"] = "true"
        } _: { installation in
            let scene = try await ReceiverScene(installation)
            try await body(Stage(scene: scene, way: try await scene.way("EVENT"), receiver: receiver))
        }
    }

    @Test("webhooks are told of incidents as their tables say, each change once, by an id that follows from it")
    func webhooks() async throws {
        try await run { stage in
            try await stage.say("trigger")
            let opened = try await stage.event("incident.opened")
            let data = opened["data"]
            #expect(data?["topic"] == "alerts" && data?["number"] == 1 && data?["state"] == "OPEN", "\(opened)")
            #expect(data?["key"] == "db-1" && data?["entry"] == 1 && data?["via"] == "SENDER")
            #expect(data?["title"]?.stringValue?.contains("<full>") == true && data?["body"] == "91 %")
            // Counted, and told to nobody.
            try await stage.say("trigger")
            try await stage.act("ack", "alerts#1", "--on", "laptop", "-m", "mine")
            let taken = try await stage.event("incident.acknowledged")["data"]
            #expect(taken?["by"] == "ada" && taken?["on"] == "laptop" && taken?["note"] == "mine", "\(taken ?? .null)")
            try await stage.act("note", "alerts#1", "on its way")
            #expect(try await stage.event("incident.noted")["data"]?["note"] == "on its way")
            try await stage.act("snooze", "alerts#1", "1h")
            #expect(try await stage.event("incident.snoozed")["data"]?["snoozedUntil"] != nil)
            try await stage.say("resolve")
            _ = try await stage.event("incident.resolved")
            let few = try await stage.event("incident.resolved", "/few")
            #expect(few["data"]?["title"] == nil && few["data"]?["actions"] == nil, "\(few)")
            #expect(Set(stage.events("/few").compactMap { $0["type"]?.stringValue }).count == 2)
            #expect(stage.events().count == 5)
            let ids = stage.receiver.requests("/all").compactMap { $0.headers["webhook-id"] }
            #expect(Set(ids).count == 5 && ids.allSatisfy { $0.hasPrefix("msg_") })
            #expect(stage.events("/elsewhere").isEmpty)
            // Who names no events is told of none of incidents.
            #expect(stage.events("/usual").allSatisfy { $0["type"]?.stringValue?.hasPrefix("incident.") == false })
        }
    }

    @Test("a link shows title and button, does nothing until it is pressed, and then what it is for, each time")
    func pressed() async throws {
        try await run { stage in
            try await stage.say("trigger")
            let path = try stage.link(try await stage.event("incident.opened"), "ACKNOWLEDGE")
            #expect(path.utf8.count <= 512 + "/act/".utf8.count)
            for _ in 0..<2 {
                let page = try await stage.installation.http(path)
                #expect(page.status == 200 && page.body.contains("<button>Acknowledge</button>"), "\(page.body)")
                #expect(page.body.contains("Disk &lt;full&gt; &amp; &quot;slow&quot;") && !page.body.contains("<full>"))
                #expect(page.header("referrer-policy") == "no-referrer" && page.header("set-cookie") == nil)
                #expect(page.header("cache-control") == "no-store")
                #expect(page.header("content-security-policy")?.contains("default-src 'none'") == true)
                #expect(page.body.contains("alerts#1: open since"))
            }
            #expect(try await stage.state()["state"] == "OPEN", "to look does nothing")
            for _ in 0..<2 {
                let pressed = try await stage.press(path)
                #expect(pressed.status == 303 && pressed.header("set-cookie") == nil, "\(pressed)")
                #expect(pressed.header("location").map { path.hasSuffix($0) } == true)
            }
            let taken = try await stage.state()
            #expect(taken["state"] == "ACKNOWLEDGED" && taken["acknowledgedVia"] == "LINK", "\(taken)")
            #expect(taken["acknowledgedBy"] == "all" && taken["timeline"]?.arrayValue?.count == 2, "\(taken)")
            let then = try await stage.installation.http(path)
            #expect(then.status == 200 && !then.body.contains("<button>") && then.body.contains("acknowledged by all"))

            let resolve = try stage.link(try await stage.event("incident.acknowledged"), "RESOLVE")
            #expect(try await stage.press(resolve).status == 303)
            #expect(try await stage.state()["resolvedVia"] == "LINK")
            #expect(try await stage.installation.http(resolve).status == 200)
            #expect(try await stage.installation.http(path).status == 410, "nobody can take it on any more")
            #expect(try await stage.press(path).status == 303)
            #expect(try await stage.state()["state"] == "RESOLVED")
        }
    }

    @Test("a link of before is over once the incident was opened again, and dies with the account")
    func over() async throws {
        try await run { stage in
            try await stage.say("trigger")
            let old = try stage.link(try await stage.event("incident.opened"), "RESOLVE")
            try await stage.say("resolve")
            try await stage.say("trigger")
            let new = try stage.link(try await stage.event("incident.reopened"), "SNOOZE_1H")
            for answer in [try await stage.press(old), try await stage.installation.http(old)] {
                #expect(answer.status == 410 && answer.body.contains("opened again"), "\(answer)")
            }
            #expect(try await stage.state()["state"] == "OPEN")
            #expect(try await stage.press(new).status == 303)
            #expect(try await stage.state()["state"] == "SNOOZED")
            try await stage.installation.administer(["user", "disable", "ada"])
            for answer in [try await stage.press(new), try await stage.installation.http(new)] {
                #expect(answer.status == 410 && !answer.body.contains("Disk"), "\(answer)")
            }
        }
    }

    @Test("guesses find nothing, are braked, and no token stands in the log")
    func strangers() async throws {
        try await run { stage in
            try await stage.say("trigger")
            let path = try stage.link(try await stage.event("incident.opened"), "ACKNOWLEDGE")
            var changed = Array(path)
            changed[40] = changed[40] == "A" ? "B" : "A"
            let long = "/act/" + String(repeating: "A", count: 4000)
            for guess in ["/act/", "/act/nonsense", String(changed), String(path.dropLast()), path + "A", long] {
                for answer in [try await stage.installation.http(guess), try await stage.press(guess)] {
                    #expect(answer.status == 404, "\(guess.prefix(60)): \(answer.status)")
                }
            }
            let put = try await stage.installation.http(path, ["--request", "DELETE"])
            #expect(put.status == 405 && put.header("allow") == "GET, HEAD, POST")
            let body = String(repeating: "x", count: 10_000)
            let large = try await stage.installation.http(path, ["--data-binary", body])
            #expect(large.status == 413)
            #expect(try await stage.state()["state"] == "OPEN")
            for _ in 0..<20 { _ = try await stage.installation.http("/act/nonsense") }
            let braked = try await stage.installation.http("/act/nonsense")
            #expect(braked.status == 429 && braked.header("retry-after") != nil)
            let token = String(path.dropFirst("/act/".count))
            try await stage.installation.restartServer()
            #expect(!stage.installation.log.contains(token) && !stage.installation.log.contains(token.prefix(60)))
            #expect(try await stage.press(path).status == 303, "links outlive a restart")
            _ = try await stage.installation.stopServer()
            #expect(!stage.installation.log.contains(token.prefix(60)))
        }
    }

    @Test("a browser's push has links of its own person, by which its buttons answer")
    func browser() async throws {
        try await run { stage in
            let simulator = try #require(stage.installation.simulator)
            let subscription = try await simulator.subscribe()
            let registered = try await stage.installation.curl(
                "mutation($t: String!) { registerPushToken(token: $t, platform: \"web\") { userId } }",
                ["t": .string(subscription.serializedString())],
                token: stage.scene.ada
            )
            #expect(registered["errors"] == nil, "\(registered)")
            try await stage.say("trigger")
            var links: JSONValue?
            try await eventually("the browser's push") {
                let pushes = try await simulator.pushes().filter(\.isAccepted).map(\.record)
                links = pushes.compactMap { $0["payload"]?["notification"]?["data"]?["links"] }.first
                return links != nil
            }
            #expect(Set(links?.objectValue?.map(\.key) ?? []) == ["ACKNOWLEDGE", "SNOOZE_1H"], "\(links ?? .null)")
            let url = try #require(links?["ACKNOWLEDGE"]?.stringValue)
            #expect(try await stage.press(String(url.dropFirst(Self.publicURL.count))).status == 303)
            let taken = try await stage.state()
            #expect(taken["acknowledgedBy"] == "ada" && taken["acknowledgedVia"] == "LINK", "\(taken)")
        }
    }
}
