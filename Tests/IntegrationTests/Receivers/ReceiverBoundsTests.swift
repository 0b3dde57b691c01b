import Foundation
import JSON
import Testing

@Suite("Bounds of senders, as served", .timeLimit(.minutes(5)))
struct ReceiverBoundsTests {
    @Test("a body beyond the bound is refused before it is read, one within it is taken; packed ones too")
    func sizes() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let way = try await scene.way("EVENT")
            func answer(_ bytes: Int, _ more: [String], packed: Bool = false) async throws -> HTTPAnswer {
                let path = installation.folder + "/event.json"
                let body = #"{"action":"log","title":"T","body":""# + String(repeating: "x", count: bytes) + #""}"#
                try body.write(toFile: path, atomically: true, encoding: .utf8)
                if packed {
                    _ = try await ChildProcess.run(
                        "/bin/gzip",
                        ["--force", path],
                        environment: [:],
                        folder: installation.folder
                    )
                }
                let file = packed ? path + ".gz" : path
                let header = packed ? ["--header", "Content-Encoding: gzip"] : []
                return try await installation.http(
                    "/in/event",
                    token: way.key,
                    ["--header", "Content-Type: application/json", "--data-binary", "@" + file] + header + more
                )
            }
            let chunks = ["--header", "Transfer-Encoding: chunked"]
            for more in [[], chunks] {
                #expect(try await answer(3 << 20, more).status == 202)
                #expect(try await answer(6 << 20, more).status == 413)
            }
            #expect(try await answer(3 << 20, [], packed: true).status == 202)
            #expect(try await answer(6 << 20, [], packed: true).status == 413)
            for (coding, status) in [("gzip", 400), ("br", 415)] {
                let broken = ["--data-binary", "no such coding", "--header", "Content-Encoding: \(coding)"]
                #expect(try await installation.http("/in/event", token: way.key, broken).status == status)
            }
            // Where the key stands in the body, less is read of strangers.
            let long = ["--data-binary", String(repeating: " ", count: 100_000) + "{}"]
            #expect(try await installation.http("/v2/enqueue", long).status == 400)
            // Strangers' long bodies are not read.
            let stranger = try await installation.http(
                "/in/event",
                token: String(repeating: "abcdefgh", count: 4),
                [
                    "--data-binary", "@" + installation.folder + "/event.json.gz", "--header",
                    "Transfer-Encoding: chunked",
                ]
            )
            #expect(stranger.status == 401)
            #expect(try await installation.http("/healthz").status == 200)
        }
    }

    @Test("JSON at ntfy's root is read to know its topic: long ones are taken, and what is wrong is told to good keys")
    func ntfyRoot() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let key = try await scene.way("NTFY").key
            func status(_ body: String, _ token: String) async throws -> Int {
                let path = installation.folder + "/ntfy.json"
                try body.write(toFile: path, atomically: true, encoding: .utf8)
                return try await installation.http("/", token: token, ["--data-binary", "@" + path]).status
            }
            let escaped = String(repeating: "\\u00e9", count: 20_000)
            for token in [key, scene.ada] {
                #expect(try await status(#"{"topic":"alerts","message":"\#(escaped)"}"#, token) == 200)
            }
            #expect(try await status(#"{"topic":"alerts","message":"m""#, key) == 400)
            #expect(try await status(#"{"message":"m"}"#, key) == 400)
            #expect(try await status(#"{"topic":"another","message":"m"}"#, key) == 401)
            let foreign = String(repeating: "abcdefgh", count: 4)
            #expect(try await status(#"{"topic":"alerts","message":"m""#, foreign) == 401)
        }
    }

    @Test("a sender of whom too much waits in memory is told 503, after which all senders send again; others 429")
    func memory() async throws {
        try await Installation.run {
            $0.environment["TOCSIN_MEMORY_PER_OWNER_BYTES"] = "1048576"
        } _: { installation in
            let way = try await ReceiverScene(installation).way("ALERTMANAGER")
            let path = installation.folder + "/long.json"
            try (#"{"query":""# + String(repeating: " ", count: 700_000) + #""}"#)
                .write(toFile: path, atomically: true, encoding: .utf8)
            let post = ["--header", "Content-Type: application/json", "--data-binary", "@" + path]
            let ofSender = try await installation.http("/in/alertmanager", token: way.key, post)
            #expect(ofSender.status == 503, "\(ofSender)")
            #expect(ofSender.body.contains("waits in memory"), "\(ofSender)")
            let other = try await installation.http("/graphql", token: try await installation.addUser("eve"), post)
            #expect(other.status == 429, "\(other)")
        }
    }

    @Test("an integration that sends more than its rate is told when to come again; others go on")
    func rate() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let (way, other) = try await (scene.way("EVENT", ["ratePerMinute": 1]), scene.way("EVENT"))
            let events = "[" + Array(repeating: #"{"action":"ignore"}"#, count: 1000).joined(separator: ",") + "]"
            #expect(try await scene.post("/in/\(way.key)", events).status == 202)
            let refused = try await scene.post("/in/\(way.key)", SentBody.event)
            #expect(refused.status == 429, "\(refused.body)")
            #expect((1...30).contains(refused.header("retry-after").flatMap(Int.init) ?? 0))
            #expect(try await scene.post("/in/\(other.key)", SentBody.event).status == 202)
            let counts = try await scene.integration(way.id, "refused trouble")
            #expect(counts["refused"] == 1, "\(counts)")
            let metrics = try await installation.metrics(try await installation.makeMetricsToken(user: "ada"))
            #expect(metrics[#"tocsin_rate_limited_total{kind="token"}"#] == 1)
            #expect(metrics[#"tocsin_rate_limited_total{kind="network"}"#] == 0)
        }
    }

    @Test("wrong keys of an address are refused in words after thirty, and its good keys are taken")
    func guesses() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let (way, pager, pings) = try await (
                scene.way("EVENT"), scene.way("PAGERDUTY"), scene.way("HEARTBEAT")
            )
            let unknown = String(repeating: "a", count: 32)
            for _ in 0..<30 {
                #expect(try await scene.post("/in/event", "x", ["X-Api-Key: \(unknown)"]).status == 401)
                #expect(try await scene.post("/ping/\(unknown)", "").status == 404)
            }
            let refused = try await scene.post("/in/\(unknown)", SentBody.event)
            #expect(refused.status == 429 && refused.header("retry-after") != nil)
            #expect(refused.body.contains("from this address"), "\(refused.body)")
            #expect(!refused.body.contains("rate"), "\(refused.body)")
            let ofAlertmanager = try await scene.post("/in/alertmanager", "{}", ["X-Api-Key: \(unknown)"])
            #expect(ofAlertmanager.status == 503 && ofAlertmanager.body.contains("from this address"))
            #expect(try await scene.post("/v2/enqueue", SentBody.pagerDuty(unknown)).status == 429)
            #expect(try await scene.post("/ping/\(unknown)", "").status == 429)
            let metrics = try await installation.metrics(try await installation.makeMetricsToken(user: "ada"))
            #expect(metrics[#"tocsin_rate_limited_total{kind="network"}"#] == 4)
            // Those of whom the address is too.
            #expect(try await scene.post("/in/\(way.key)", SentBody.event).status == 202)
            #expect(try await scene.post("/v2/enqueue", SentBody.pagerDuty(pager.key)).status == 202)
            #expect(try await scene.post("/ping/\(pings.key)/backup?create=1", "").status == 201)
            #expect(try await installation.curl("{ me { username } }", token: scene.ada)["errors"] == nil)
        }
    }

    @Test("the last requests are kept as the setting says, and none where it says none")
    func keptRequests() async throws {
        try await Installation.run {
            $0.options += ["--receiver-keep-requests", "3"]
        } _: { installation in
            let scene = try await ReceiverScene(installation)
            let way = try await scene.way("PAGERDUTY")
            for _ in 0..<5 { _ = try await scene.post("/v2/enqueue", SentBody.pagerDuty(way.key)) }
            let seen = try await scene.integration(way.id, "recent(limit: 100) { body status }")
            #expect(seen["recent"]?.arrayValue?.count == 3, "\(seen)")
            #expect(seen["recent"]?[0]?["body"]?.stringValue?.contains("***") == true)
            #expect(!seen.serializedString().contains(way.key))
        }
    }
}
