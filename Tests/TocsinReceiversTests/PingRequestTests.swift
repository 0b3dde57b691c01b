import Testing
import TocsinReceivers

@Suite("Pings")
struct PingRequestTests {
    static let run = "0c4b2a8e-6d0f-4a57-9d0e-1f2a3b4c5d6e"

    private func read(_ method: String, _ target: String, _ body: String = "") -> PingRequest? {
        guard case .ping(let ping) = PingRequest.read(Sample.request(method, target, body: body)) else { return nil }
        return ping
    }

    @Test(
        "a path says what a ping means",
        arguments: [
            ("/ping/K", PingRequest.Signal.success, nil),
            ("/ping/K/start", .start, nil),
            ("/ping/K/fail", .fail(exitStatus: nil), nil),
            ("/ping/K/log", .log, nil),
            ("/ping/K/0", .success, nil),
            ("/ping/K/137", .fail(exitStatus: 137), nil),
            ("/ping/K/backup", .success, "backup"),
            ("/ping/K/backup/2", .fail(exitStatus: 2), "backup"),
            ("/ping/K/256", .success, "256"),
        ] as [(String, PingRequest.Signal, String?)]
    )
    func paths(target: String, signal: PingRequest.Signal, slug: String?) throws {
        for method in ["GET", "HEAD", "POST"] {
            let ping = try #require(read(method, target))
            #expect(ping.key == "K" && ping.signal == signal && ping.slug == slug && ping.form == .ping)
        }
    }

    @Test("Uptime Kuma's push says up or down")
    func push() throws {
        let up = try #require(read("GET", "/api/push/K?status=up&msg=OK&ping=12"))
        #expect(up.signal == .success && up.text == "OK" && up.form == .push)
        #expect(try #require(read("GET", "/api/push/K?status=down&msg=no")).signal == .fail(exitStatus: nil))
        #expect(up.answer(.taken).text == #"{"ok":true}"#)
        #expect(up.answer(.unknown).status == 404)
        #expect(up.answer(.unknown).text == #"{"ok":false,"msg":"Monitor not found or not active."}"#)
    }

    @Test("the run's id must be a UUID, and ties start and end")
    func runs() throws {
        #expect(try #require(read("GET", "/ping/K/start?rid=\(Self.run.uppercased())")).runID == Self.run)
        #expect(read("GET", "/ping/K/start?rid=7") == nil)
        let request = Sample.request("GET", "/ping/K/start?rid=7")
        #expect(PingRequest.answer(.badInput(["invalid uuid format"]), to: request).status == 400)
    }

    @Test("a body is kept to ten thousand bytes, whatever its signs are")
    func bodies() throws {
        let text = try #require(read("POST", "/ping/K/1", String(repeating: "ä\u{7}", count: 20_000))).text
        #expect(text.utf8.count <= 10_000 && text.hasPrefix("ää"))
    }

    @Test("a monitor is made where the sender asks for it")
    func created() throws {
        let ping = try #require(read("GET", "/ping/K/backup?create=1"))
        #expect(ping.creates && ping.answer(.created).status == 201 && ping.answer(.created).text == "Created")
        #expect(ping.answer(.taken).header("Ping-Body-Limit") == "10000")
        #expect(ping.answer(.unknown) == ReceiverAnswer(404, text: "not found"))
    }

    @Test(
        "what is no ping is not found",
        arguments: ["/ping", "/ping/K/Ä", "/ping/K/a/b", "/ping/K/a/b/c", "/api/push", "/x"]
    )
    func others(target: String) {
        #expect(PingRequest.read(Sample.request("GET", target)) == .refused(.notFound))
    }

    @Test("another method is refused with those that are taken")
    func methods() {
        let request = Sample.request("DELETE", "/ping/K")
        #expect(PingRequest.read(request) == .refused(.methodNotAllowed))
        #expect(PingRequest.answer(.methodNotAllowed, to: request).header("Allow") == "GET, HEAD, POST")
    }
}
