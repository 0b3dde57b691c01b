import Foundation
import JSON
import TestDatabases
import Testing

@Suite("The admin listener of the built server", .timeLimit(.minutes(5)))
struct AdminListenerTests {
    private static func socket(_ installation: Installation) -> String { installation.folder + "/data/admin.sock" }

    /// Asks over the socket in the data directory.
    private static func ask(
        _ path: String,
        _ installation: Installation,
        socket: String? = nil,
        _ arguments: [String] = []
    ) async throws -> HTTPAnswer {
        let result = try await ChildProcess.run(
            "/usr/bin/curl",
            [
                "--silent", "--show-error", "--max-time", Patience.ofCurl, "--include", "--unix-socket",
                socket ?? Self.socket(installation),
            ] + arguments + ["http://admin" + path],
            environment: TestBinary.environment,
            folder: installation.folder
        )
        guard result.status == 0 else { throw HarnessFailure("curl: \(result.status), \(result.errors)") }
        return try HTTPAnswer(result.output)
    }

    /// What `tocsin admin` prints, as JSON.
    private static func command(_ arguments: [String], _ installation: Installation) async throws -> JSONValue {
        try JSONParser.parse(try await installation.administer(["admin"] + arguments))
    }

    @Test("it tells state, settings and readiness to its own user, and nothing to web pages or over the main port")
    func looks() async throws {
        let prepare = { (installation: Installation) in
            installation.environment["TOCSIN_ADMIN_TOKEN"] = String(repeating: "secret", count: 5)
        }
        try await Installation.run(prepare: prepare) { installation in
            let path = Self.socket(installation)
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
            let state = try await Self.command(["state"], installation)
            #expect(state["phase"] == "running" && state["stalled"] == [])
            #expect(state["store"]?["commits"]?.intValue ?? 0 > 0, "\(state)")
            #expect(state["push"]?["underWay"]?["apns"] == 0, "\(state)")
            let settings = try await Self.command(["settings"], installation)
            #expect(settings["admin-token"]?["value"] == "(secret)")
            #expect(settings["port"]?["origin"] == "--port")
            #expect(try await installation.administer(["admin", "ready"]) == "ok\n")
            let ready = try await Self.command(["ready", "--verbose"], installation)
            #expect(ready["status"] == "ok" && ready["version"]?.stringValue != nil && ready["push"] != nil)
            for path in ["/livez", "/healthz", "/readyz", "/startupz"] {
                #expect(try await Self.ask(path, installation).status == 200, "\(path)")
            }
            #expect(try await Self.ask("/startupz", installation).json == ["status": "started"])
            let page = try await Self.ask("/admin/state", installation, ["--header", "Origin: http://127.0.0.1"])
            #expect(page.status == 403)
            #expect(try await Self.ask("/admin/drain", installation).status == 405)
            // An order that is misspelt is not obeyed: this one would stop the server at once.
            for (order, body) in [
                ("drain", #"{"second": 10}"#), ("log-level", #"{"level": "info", "until": "1m"}"#),
                ("backup", #"{"file": "/nowhere/copy.db", "overwrite": true}"#),
            ] {
                let refused = try await Self.ask("/admin/" + order, installation, ["--json", body])
                // PostgreSQL is told of its own tools first.
                let isElsewhere = order == "backup" && AnyDatabase.isPostgres
                #expect(refused.status == (isElsewhere ? 409 : 400), "\(order): \(refused)")
            }
            #expect(try await installation.http("/livez").status == 200)
            for path in ["/admin/state", "/startupz"] {
                #expect(try await installation.http(path).status == 404, "\(path)")
            }
            if !AnyDatabase.isPostgres { try await Self.checkDatabaseOrders(installation) }
        }
    }

    @Test("it takes orders for the log and for reloads; what is wrong with them changes nothing")
    func orders() async throws {
        let file = { (installation: Installation) in URL(filePath: installation.folder + "/t.toml") }
        try await Installation.run(prepare: { installation in
            try Data("rate-burst = 100\n".utf8).write(to: file(installation))
            installation.options += ["--config", file(installation).path()]
        }) { installation in
            _ = try await Self.command(["log-level", "error", "--only", "http", "--for", "1h"], installation)
            #expect(try await installation.http("/quiet").status == 404)
            _ = try await Self.command(["log-level", "info"], installation)
            #expect(try await installation.http("/loud").status == 404)
            try await eventually("what came after the order is logged") {
                installation.logLines.contains { $0["path"] == "/loud" }
            }
            #expect(!installation.logLines.contains { $0["path"] == "/quiet" })
            let loudest = try await installation.attempt(["admin", "log-level", "loudest"])
            #expect(loudest.status == 1 && loudest.errors.contains("Write one of trace"), "\(loudest.errors)")

            try Data("rate-burst = \"fast\"\n".utf8).write(to: file(installation))
            let refused = try await installation.attempt(["admin", "reload"])
            #expect(refused.status == 1 && refused.errors.contains("rate-burst"), "\(refused.errors)")
            try Data("rate-burst = 200\nconnections = 77\n".utf8).write(to: file(installation))
            let outcome = try await Self.command(["reload"], installation)
            #expect(outcome["result"] == "applied" && outcome["changed"] == ["rate-burst"], "\(outcome)")
            #expect(outcome["pendingRestart"] == ["connections"], "\(outcome)")
            let settings = try await Self.command(["settings"], installation)
            #expect(settings["rate-burst"]?["value"] == "200" && settings["rate-burst"]?["pendingRestart"] == false)
            #expect(settings["connections"]?["pendingRestart"] == true)
            let metrics = try await Self.ask("/metrics", installation).body
            #expect(metrics.contains("tocsin_reloads_total{result=\"applied\"} 1\n"))
            #expect(metrics.contains("tocsin_reloads_total{result=\"refused\"} 1\n"))
        }
    }

    private static func checkDatabaseOrders(_ installation: Installation) async throws {
        _ = try await installation.addUser("ada")
        let checkpoint = try await Self.command(["checkpoint"], installation)
        #expect(checkpoint["logBytes"] == 0 && checkpoint["logBytesBefore"]?.intValue ?? 0 > 0, "\(checkpoint)")
        let file = installation.folder + "/copy.db"
        let backup = try await Self.command(["backup", file], installation)
        #expect(backup["file"] == .string(file))
        #expect(backup["bytes"]?.intValue ?? 0 > 100_000, "\(backup)")
        let metrics = try MetricsText(try await Self.ask("/metrics", installation).body)
        #expect(metrics["tocsin_backup_bytes_total"] == backup["bytes"]?.intValue.map(Double.init))
        let age = metrics["tocsin_backup_last_success_timestamp_seconds"].map { Date.now.timeIntervalSince1970 - $0 }
        #expect((0..<300).contains(age ?? -1), "\(String(describing: age))")
        let again = try await installation.attempt(["admin", "backup", file])
        #expect(again.status == 1 && again.errors.contains("is there already"), "\(again)")
        #expect(try await Self.command(["backup", file, "--force"], installation)["file"] == .string(file))
    }

    @Test("it answers when the main port is full; drain shows on /readyz before the door closes, then the server ends")
    func fullAndDrained() async throws {
        let prepare = { (installation: Installation) in installation.environment["TOCSIN_CONNECTIONS"] = "2" }
        try await Installation.run(prepare: prepare) { installation in
            let token = try await installation.addUser("ada")
            let socket = try await RawSocket(installation, token: token)
            try await socket.subscribe("subscription { onCreateMessage { id } }")
            let other = try await RawSocket(installation, token: token)
            try await other.subscribe("subscription { onCreateMessage { id } }")
            #expect(try await installation.http("/readyz").status == 503)
            #expect(try await installation.administer(["admin", "ready"]) == "ok\n")
            let state = try await Self.command(["state"], installation)
            #expect(state["sockets"] == 2 && state["connections"]?["limit"] == 2, "\(state)")

            let drained = try await Self.command(["drain", "--seconds", "2"], installation)
            #expect(drained["draining"] == true)
            try await eventually("the server says that it stops") {
                let ready = try await installation.attempt(["admin", "ready"])
                return ready.status == 1 && ready.output == "stopping\n"
            }
            #expect(try await socket.untilClosed() == 1001)
            #expect(try await other.untilClosed() == 1001)
            #expect(try await installation.server?.process.untilExit() == 0)
            #expect(!FileManager.default.fileExists(atPath: Self.socket(installation)))
            let nobody = try await installation.attempt(["admin", "state"])
            #expect(nobody.status == 1 && nobody.errors.contains("No server runs here"), "\(nobody)")
        }
    }

    @Test("SIGTERM drains as the settings say; the socket of a killed server is told from a live one and replaced")
    func drainAndStaleSocket() async throws {
        let prepare = { (installation: Installation) in installation.environment["TOCSIN_DRAIN_SECONDS"] = "3" }
        try await Installation.run(prepare: prepare) { installation in
            installation.server?.process.signal(SIGKILL)
            try await installation.server?.process.untilExit()
            let dead = try await installation.attempt(["admin", "ready"])
            #expect(dead.status == 1 && dead.errors.contains("one that has died"), "\(dead)")
            try await installation.startServerAgain()
            #expect(try await installation.administer(["admin", "ready"]) == "ok\n")
            if !AnyDatabase.isPostgres {
                let second = try await installation.attempt(["serve", "--port", "0"])
                #expect(second.status == 1 && second.errors.contains("A server is running on this database"))
                #expect(try await installation.administer(["admin", "ready"]) == "ok\n")
            }
            installation.server?.process.signal(SIGTERM)
            try await eventually("the server says that it stops, and still listens") {
                let ready = try await installation.http("/readyz")
                return ready.status == 503 && ready.header("connection") == "close"
            }
            #expect(try await installation.http("/livez").status == 200)
            #expect(try await installation.server?.process.untilExit() == 0)
        }
    }

    @Test("over the network probes are open to all of this machine, and orders need the token")
    func network() async throws {
        let token = String(repeating: "a1", count: 16)
        let prepare = { (installation: Installation) in
            installation.options = ["--admin-listen", "unix:\(installation.folder)/a.sock,127.0.0.1:0"]
            installation.environment["TOCSIN_ADMIN_TOKEN"] = token
        }
        try await Installation.run(prepare: prepare) { installation in
            let open = installation.logLines.compactMap { $0["address"]?.stringValue }
            let address = try #require(open.first { $0.hasPrefix("127.0.0.1:") })
            func ask(_ path: String, _ fields: [String] = []) async throws -> Int {
                let result = try await ChildProcess.run(
                    "/usr/bin/curl",
                    ["--silent", "--show-error", "--include", "--max-time", Patience.ofCurl]
                        + fields.flatMap { ["--header", $0] } + ["http://\(address)\(path)"],
                    environment: TestBinary.environment,
                    folder: installation.folder
                )
                guard result.status == 0 else { throw HarnessFailure("\(path): \(result.errors)") }
                return try HTTPAnswer(result.output).status
            }
            #expect(try await ask("/readyz?verbose") == 200)
            #expect(try await ask("/startupz") == 200)
            #expect(try await ask("/admin/state") == 401)
            #expect(try await ask("/admin/state", ["Authorization: Bearer \(token.dropLast())x"]) == 401)
            #expect(try await ask("/admin/state", ["Authorization: Bearer \(token)"]) == 200)
            let state = try await installation.attempt(["admin", "state", "--admin-listen", address])
            #expect(state.status == 1 && state.errors.contains("TOCSIN_ADMIN_TOKEN_FILE"), "\(state)")
            let tokenFile = installation.folder + "/token"
            try token.write(toFile: tokenFile, atomically: true, encoding: .utf8)
            chmod(tokenFile, 0o600)
            try await installation.administer([
                "admin", "state", "--admin-listen", address, "--admin-token-file", tokenFile,
            ])
        }
    }
}
