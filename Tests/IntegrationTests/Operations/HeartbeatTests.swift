import JSON
import Testing

@Suite("Who watches the server", .timeLimit(.minutes(5)))
struct HeartbeatTests {
    @Test("the heartbeat's address is fetched while all is well, is counted, and stands in no line and no list")
    func sent() async throws {
        let watcher = try Receiver { path, _ in path == "/ping/fine-secret" ? 200 : 500 }
        for (path, result) in [("/ping/fine-secret", "sent"), ("/ping/sad-secret", "failed")] {
            let url = "http://127.0.0.1:\(watcher.port)\(path)"
            try await Installation.run {
                $0.environment["TOCSIN_HEARTBEAT_URL"] = url
            } _: { installation in
                _ = try await installation.addUser("ada")
                let token = try await installation.makeMetricsToken(user: "ada")
                _ = try await eventually("the watcher hears") { watcher.requests(path).isEmpty ? nil : true }
                let text = try await eventually("it is counted") {
                    let text = try await installation.metrics(token)
                    return text["tocsin_heartbeat_rounds_total{result=\"\(result)\"}"] == 1 ? text : nil
                }
                #expect(text["tocsin_heartbeat_rounds_total{result=\"withheld\"}"] == 0)
                let told = installation.logLines.contains { $0["event"] == "heartbeat_failed" }
                #expect(told == (result == "failed"), "\(installation.log)")
                #expect(!installation.log.contains("-secret"), "\(installation.log)")
            }
        }
    }

    @Test("the address is shown by no command that shows settings")
    func hidden() async throws {
        let secret = ["TOCSIN_HEARTBEAT_URL": "https://watch.example.com/ping/fine-secret"]
        let result = try await TestBinary.run(["settings"], with: secret, folder: "/")
        #expect(result.status == 0 && result.output.contains("heartbeat-url"), "\(result)")
        #expect(!(result.output + result.errors).contains("fine-secret"), "\(result)")
    }

    @Test("an address that is none is named when settings are read")
    func wrong() async throws {
        let result = try await TestBinary.run(
            ["settings", "check", "--heartbeat-url", "watch.example.com"],
            folder: "/"
        )
        #expect(result.status != 0, "\(result)")
        #expect((result.output + result.errors).contains("https://watch.example.com/ping/KEY"), "\(result)")
    }
}
