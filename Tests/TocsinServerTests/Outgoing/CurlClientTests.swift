import Testing
import TocsinCore
import TocsinServer

@Suite("Outgoing calls", .timeLimit(.minutes(5)))
struct CurlClientTests {
    private static let hello = "HTTP/1.1 200 OK\r\nX-Who: me \r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"

    private static func failure(_ answer: OutgoingAnswer) -> String? {
        if case .failed(let reason) = answer { reason } else { nil }
    }

    @Test("an answer comes back with status, lower-case header names and body")
    func get() async throws {
        let server = try LoopbackServer { _ in Self.hello }
        let answer = await CurlClient().send(
            OutgoingRequest(url: server.address + "/keys", headers: [("accept", "a/b")], timeoutSeconds: 120)
        )
        guard case .response(200, let headers, let body) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(headers.first { $0.name == "x-who" }?.value == "me")
        #expect(String(decoding: body, as: UTF8.self) == "hello")
        #expect(server.received.first?.hasPrefix("GET /keys HTTP/1.1\r\n") == true)
        #expect(server.received.first?.contains("accept: a/b\r\n") == true)
    }

    @Test("a body is sent whole, with its length", arguments: [0, 1, 5000, 200_000])
    func post(length: Int) async throws {
        let server = try LoopbackServer { _ in Self.hello }
        let body = String(repeating: "b", count: length)
        let request = OutgoingRequest(
            method: "POST",
            url: server.address,
            headers: [("content-type", "application/x-www-form-urlencoded")],
            body: Array(body.utf8),
            timeoutSeconds: 120
        )
        #expect(Self.failure(await CurlClient().send(request)) == nil)
        let received = try #require(server.received.first)
        #expect(received.hasPrefix("POST / HTTP/1.1\r\n"))
        #expect(received.hasSuffix("\r\n\r\n" + body))
        #expect(!received.lowercased().contains("expect:"))
    }

    @Test("a redirect is an answer, not an order")
    func redirect() async throws {
        let other = try LoopbackServer { _ in Self.hello }
        let server = try LoopbackServer { _ in
            "HTTP/1.1 302 Found\r\nLocation: \(other.address)/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        }
        guard
            case .response(302, _, _) = await CurlClient().send(
                OutgoingRequest(url: server.address, timeoutSeconds: 120)
            )
        else {
            Issue.record("the redirect was not the answer")
            return
        }
        #expect(other.received.isEmpty)
    }

    @Test("an answer that is too large fails", arguments: ["Content-Length: 6000\r\n", ""])
    func tooLarge(header: String) async throws {
        let server = try LoopbackServer { _ in
            "HTTP/1.1 200 OK\r\n\(header)Connection: close\r\n\r\n" + String(repeating: "x", count: 6000)
        }
        let answer = await CurlClient().send(
            OutgoingRequest(url: server.address, timeoutSeconds: 120, maximumBodyBytes: 5999)
        )
        #expect(Self.failure(answer)?.contains("larger than 5999") == true, "\(answer)")
        let whole = await CurlClient().send(
            OutgoingRequest(url: server.address, timeoutSeconds: 120, maximumBodyBytes: 6000)
        )
        #expect(Self.failure(whole) == nil)
    }

    @Test("a server that says nothing is given up in time")
    func silence() async throws {
        let server = try LoopbackServer { _ in nil }
        let answer = await CurlClient().send(OutgoingRequest(url: server.address, timeoutSeconds: 0.2))
        #expect(Self.failure(answer)?.contains("did not answer in time") == true, "\(answer)")
    }

    @Test("calls do not wait for each other")
    func concurrency() async throws {
        let silent = try LoopbackServer { _ in nil }
        let server = try LoopbackServer { _ in Self.hello }
        let client = CurlClient()
        let answered = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                _ = await client.send(OutgoingRequest(url: silent.address, timeoutSeconds: 120))
                return false
            }
            for _ in 0..<12 {
                group.addTask {
                    Self.failure(await client.send(OutgoingRequest(url: server.address, timeoutSeconds: 120))) == nil
                }
            }
            var count = 0
            for await isAnswered in group where isAnswered {
                count += 1
                if count == 12 { group.cancelAll() }
            }
            return count
        }
        #expect(answered == 12)
    }

    @Test("a cancelled call is given up, before it began too")
    func cancellation() async throws {
        let server = try LoopbackServer { _ in nil }
        let client = CurlClient()
        for isEarly in [true, false] {
            let task = Task {
                if isEarly {
                    while !Task.isCancelled { await Task.yield() }
                }
                return await client.send(OutgoingRequest(url: server.address, timeoutSeconds: 120))
            }
            while !isEarly, server.received.isEmpty { await Task.yield() }
            task.cancel()
            #expect(Self.failure(await task.value)?.contains("cancelled") == true)
        }
    }

    @Test(
        "what is no web address fails and touches nothing",
        arguments: ["", "file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "not an address", "http://"]
    )
    func addresses(url: String) async throws {
        #expect(Self.failure(await CurlClient().send(OutgoingRequest(url: url))) != nil)
    }

    @Test("a header cannot carry a second one")
    func headerInjection() async throws {
        let server = try LoopbackServer { _ in Self.hello }
        let request = OutgoingRequest(url: server.address, headers: [("accept", "a\r\nx-evil: 1")])
        #expect(Self.failure(await CurlClient().send(request)) != nil)
        #expect(server.received.isEmpty)
    }

    @Test("nobody listening, and a client that was stopped, are failures with a reason")
    func unreachable() async throws {
        let port = try LoopbackServer { _ in nil }.port
        let client = CurlClient()
        #expect(Self.failure(await client.send(OutgoingRequest(url: "http://127.0.0.1:\(port)"))) != nil)
        client.stop()
        let answer = await client.send(OutgoingRequest(url: "http://127.0.0.1:\(port)"))
        #expect(Self.failure(answer)?.contains("stopping") == true)
    }
}
