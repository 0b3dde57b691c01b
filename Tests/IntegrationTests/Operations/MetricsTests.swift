import Foundation
import JSON
import TestDatabases
import Testing

@Suite("Metrics, as served", .timeLimit(.minutes(5)))
struct MetricsTests {
    @Test("/metrics is for tokens of scope metrics alone, in the format and coding that are asked for")
    func answers() async throws {
        try await Installation.run { installation in
            let full = try await installation.addUser("ada")
            let token = try await installation.makeMetricsToken(user: "ada")
            #expect(try await installation.http("/metrics").status == 401)
            let refused = try await installation.http("/metrics", token: full)
            #expect(refused.status == 403)
            #expect(try refused.json["error"]?["code"] == "UNAUTHORIZED")
            #expect(try await installation.http("/metrics", token: token, ["--data", "x"]).status == 405)

            let text = try await installation.http("/metrics", token: token)
            #expect(text.header("content-type") == "text/plain; version=0.0.4; charset=utf-8")
            #expect(text.body.hasPrefix("# HELP "))
            let accept = ["--header", "Accept: application/openmetrics-text;version=1.0.0,*/*;q=0.1"]
            let open = try await installation.http("/metrics", token: token, accept)
            #expect(open.header("content-type") == "application/openmetrics-text; version=1.0.0; charset=utf-8")
            #expect(open.body.hasSuffix("# EOF\n"))
            let packed = try await installation.http("/metrics", token: token, ["--compressed"])
            #expect(packed.header("content-encoding") == "gzip")
            #expect(packed.body.hasPrefix("# HELP "))
        }
    }

    @Test("counts agree with what was done, and invented paths and methods make no series")
    func counts() async throws {
        try await Installation.run { installation in
            let full = try await installation.addUser("ada")
            let token = try await installation.makeMetricsToken(user: "ada")
            let before = try await installation.metrics(token)
            for _ in 0..<5 { _ = try await installation.curl("{ me { username } }", token: full) }
            // A path of one segment may be a topic: it is there, for posts alone.
            let paths = ["/graphql/[1-200]", "/docs/[1-200]", "/auth/[1-200]", "/[1-200]"]
            for path in paths { _ = try await installation.http(path) }
            for method in ["PROPFIND", "MADEUP"] { _ = try await installation.http("/x", ["-X", method]) }
            let after = try await installation.metrics(token)
            let posts = """
                http_server_request_duration_seconds_count{http_request_method="POST",\
                http_response_status_code="200",http_route="/graphql"}
                """
            #expect((after[posts] ?? 0) - (before[posts] ?? 0) == 5)
            let lost = """
                http_server_request_duration_seconds_count{http_request_method="GET",\
                http_response_status_code="404",http_route="other"}
                """
            #expect((after[lost] ?? 0) - (before[lost] ?? 0) == 400)
            #expect(after["tocsin_ready"] == 1)
            #expect(after.values.count < 3000)
            let new = Set(after.values.keys).subtracting(before.values.keys)
            #expect(new.allSatisfy { $0.hasPrefix("http_server_request_duration_seconds") }, "\(new)")
            #expect(new.count <= 7 * 17)
            #expect(!after.values.keys.contains { $0.contains("MADEUP") || $0.contains("/auth/1") })
        }
    }

    @Test("lines of the log are counted by level, jobs tell their intervals, and changed settings another hash")
    func logAndSettings() async throws {
        let path = "tocsin.toml"
        try await Installation.run { installation in
            let file = installation.folder + "/" + path
            try Self.settings("a.example").write(toFile: file, atomically: true, encoding: .utf8)
            installation.options = ["--config", file]
        } _: { installation in
            _ = try await installation.addUser("ada")
            let token = try await installation.makeMetricsToken(user: "ada")
            let notices = #"tocsin_log_lines_total{level="notice"}"#
            let begun = try await installation.metrics(token)
            #expect(begun[#"tocsin_log_lines_total{level="info"}"#] ?? 0 > 0)
            #expect(begun[#"tocsin_log_lines_total{level="critical"}"#] == 0)
            #expect(begun[#"tocsin_job_interval_seconds{task="timers"}"#] == 0.5)
            #expect(begun[#"tocsin_job_interval_seconds{task="messages"}"#] == 300)

            let site = ReloadSite(installation)
            try await site.hangUp(until: ReloadSite.applied)
            let same = try await installation.metrics(token)
            #expect(same[notices] == (begun[notices] ?? 0) + 1)
            #expect(same["tocsin_settings_hash"] != nil)
            #expect(same["tocsin_settings_hash"] == begun["tocsin_settings_hash"])

            let file = installation.folder + "/" + path
            var hashes = [begun["tocsin_settings_hash"]]
            for text in [Self.settings("b.example"), "rate-per-second = 5000\n" + Self.settings("b.example")] {
                try text.write(toFile: file, atomically: true, encoding: .utf8)
                try await site.hangUp(until: ReloadSite.applied)
                hashes.append(try await installation.metrics(token)["tocsin_settings_hash"])
            }
            #expect(Set(hashes).count == 3, "\(hashes)")
        }
    }

    private static func settings(_ host: String) -> String {
        """
        page-rows = 50
        [[webhooks]]
        name = "crm"
        url = "https://\(host)/hook"
        secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

        """
    }

    @Test("a node that is told not to measure has no /metrics")
    func off() async throws {
        try await Installation.run {
            $0.environment["TOCSIN_METRICS"] = "false"
        } _: { installation in
            _ = try await installation.addUser("ada")
            let token = try await installation.makeMetricsToken(user: "ada")
            #expect(try await installation.http("/metrics", token: token).status == 404)
        }
    }

    @Test(
        "nodes tell of each other, one of them reads the database's figures for all, and the page has every series",
        .enabled(if: PostgresServer.named != nil)
    )
    func nodes() async throws {
        try await Cluster.run(2) { cluster in
            try await cluster.administer(["user", "add", "ada"])
            let token = try await cluster.administer(["token", "create", "--user", "ada", "--scope", "metrics"])
                .trimmingCharacters(in: .whitespacesAndNewlines)
            let texts = try await eventually("both nodes know of each other and one reads") {
                var texts: [MetricsText] = []
                for number in 0..<2 { texts.append(try await Self.metrics(cluster.nodes[number], token)) }
                let knowing = texts.allSatisfy { $0["tocsin_node_peers"] == 1 }
                let reading = texts.contains { $0["tocsin_sessions"] != nil }
                return knowing && reading ? texts : nil
            }
            #expect(texts.compactMap { $0["tocsin_sessions"] }.count == 1)
            for text in texts {
                #expect(text[#"tocsin_duty{duty="upkeep"}"#] == (text["tocsin_sessions"] == nil ? 0 : 1))
                #expect((text["tocsin_journal_lag_seconds"] ?? 99) < 60)
                #expect((text[#"tocsin_postgres_connects_total{result="ok"}"#] ?? 0) > 0)
                #expect(text["tocsin_sqlite_wal_bytes"] == nil)
            }
            let unknown = Set(texts.flatMap { $0.families.map(\.name) }).subtracting(try MetricsPageTests.names())
            #expect(unknown.isEmpty, "docs/metrics.md lacks \(unknown.sorted())")
        }
    }

    @Test(
        "a node that stood still tells no times of jobs that another has taken",
        .enabled(if: PostgresServer.named != nil)
    )
    func jobs() async throws {
        let duty = #"tocsin_duty{duty="timers"}"#
        let times = ["last_success_timestamp", "interval"].map { #"tocsin_job_\#($0)_seconds{task="timers"}"# }
        try await Cluster.run(2) { cluster in
            try await cluster.administer(["user", "add", "ada"])
            let token = try await cluster.administer(["token", "create", "--user", "ada", "--scope", "metrics"])
                .trimmingCharacters(in: .whitespacesAndNewlines)
            let holder = try await eventually("a node fires the timers") { () -> Int? in
                for number in 0..<2 where try await Self.metrics(cluster.nodes[number], token)[duty] == 1 {
                    return number
                }
                return nil
            }
            cluster.nodes[holder]?.process.signal(SIGSTOP)
            try await eventually("the other one does") {
                let text = try await Self.metrics(cluster.nodes[1 - holder], token)
                return text[duty] == 1 && times.allSatisfy { text[$0] != nil }
            }
            cluster.nodes[holder]?.process.signal(SIGCONT)
            try await eventually("the first one tells no times of theirs") {
                let text = try await Self.metrics(cluster.nodes[holder], token)
                return text[duty] == 0 && times.allSatisfy { text[$0] == nil }
            }
        }
    }

    private static func metrics(_ node: ServerProcess?, _ token: String) async throws -> MetricsText {
        let result = try await ChildProcess.run(
            "/usr/bin/curl",
            [
                "--silent", "--show-error", "--max-time", Patience.ofCurl, "--include", "--header",
                "Authorization: Bearer \(token)",
                (node?.address ?? "") + "/metrics",
            ],
            environment: TestBinary.environment,
            folder: "/tmp"
        )
        return try MetricsText(try HTTPAnswer(result.output).body)
    }
}
