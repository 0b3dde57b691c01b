import Encodings
import HTTPTypes
import Logging
import Synchronization
import Testing
import TocsinHTTP

@Suite("Where requests come from", .timeLimit(.minutes(5)))
struct ClientAddressTests {
    @Test(
        "a proxy that is trusted names the client; anybody else's word is not taken",
        arguments: [
            ("", "", "127.0.0.1"),
            ("127.0.0.1", "", "127.0.0.1"),
            ("none", "X-Forwarded-For: 192.0.2.1\r\n", "127.0.0.1"),
            ("127.0.0.1", "X-Forwarded-For: 192.0.2.1\r\n", "192.0.2.1"),
            ("127.0.0.0/8", "X-Forwarded-For: 203.0.113.9, 192.0.2.1\r\n", "192.0.2.1"),
            ("127.0.0.1,10.0.0.0/8", "X-Forwarded-For: 203.0.113.9, 192.0.2.1, 10.1.2.3\r\n", "192.0.2.1"),
            ("127.0.0.1,10.0.0.0/8", "X-Forwarded-For: 10.9.9.9, 10.1.2.3\r\n", "10.9.9.9"),
            ("127.0.0.1", "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-For: 192.0.2.1\r\n", "192.0.2.1"),
            ("127.0.0.1", "X-Forwarded-For: 192.0.2.1:4711\r\n", "192.0.2.1"),
            ("127.0.0.1", "X-Forwarded-For: unknown\r\n", "127.0.0.1"),
            ("127.0.0.1", "Forwarded: for=192.0.2.1;proto=https;by=10.0.0.1\r\n", "192.0.2.1"),
            ("127.0.0.1", "Forwarded: for=1.1.1.1, For=\"[2001:db8::7]:4711\"\r\n", "2001:db8::7"),
            ("127.0.0.1", "Forwarded: for=_hidden\r\n", "127.0.0.1"),
            ("127.0.0.1", "Forwarded: for=203.0.113.9\r\nX-Forwarded-For: 192.0.2.1\r\n", "192.0.2.1"),
            // What a client says of itself stands left of what the proxy adds.
            ("127.0.0.1", "X-Forwarded-For: 10.0.0.1, 127.0.0.1, 198.51.100.7\r\n", "198.51.100.7"),
            ("127.0.0.1", "X-Forwarded-For: 198.51.100.7\r\nX-Forwarded-For: unknown\r\n", "127.0.0.1"),
            ("127.0.0.1,10.0.0.0/8", "X-Forwarded-For: 192.0.2.1, nonsense, 10.0.0.2\r\n", "10.0.0.2"),
            ("127.0.0.1", "Forwarded: for=\"1.2.3.4, for=192.0.2.1\r\n", "192.0.2.1"),
            ("127.0.0.1", "Forwarded: for=192.0.2.9, by=10.0.0.1;proto=https\r\n", "127.0.0.1"),
            // IPv6, also as IPv4 is written in it.
            ("127.0.0.1", "X-Forwarded-For: 2001:db8::1\r\n", "2001:db8::1"),
            ("127.0.0.1", "X-Forwarded-For: [2001:DB8:0::1]:443\r\n", "2001:db8::1"),
            ("127.0.0.1", "X-Forwarded-For: ::ffff:192.0.2.1\r\n", "192.0.2.1"),
            ("127.0.0.1,10.0.0.0/8", "X-Forwarded-For: 192.0.2.1, ::ffff:10.0.0.2\r\n", "192.0.2.1"),
            ("127.0.0.1,fd00::/8", "X-Forwarded-For: 2001:db8::1, fd00::5\r\n", "2001:db8::1"),
            ("127.0.0.1", "X-Forwarded-For: [fe80::1%eth0]\r\n", "127.0.0.1"),
            // Garbage.
            ("127.0.0.1", "X-Forwarded-For: ,\r\n", "127.0.0.1"),
            ("127.0.0.1", "X-Forwarded-For: 192.0.2.1,\r\n", "192.0.2.1"),
            ("127.0.0.1", "X-Forwarded-For: 192.0.2.1:x:y\r\n", "127.0.0.1"),
            ("127.0.0.1", "X-Forwarded-For: [2001:db8::1\r\n", "127.0.0.1"),
            ("127.0.0.1", "X-Forwarded-For: 0300.0.2.1\r\n", "127.0.0.1"),
            ("127.0.0.1", "Forwarded: for=\"\"\r\n", "127.0.0.1"),
            ("127.0.0.1", "Forwarded: for\r\n", "127.0.0.1"),
        ]
    )
    func forwarded(proxies: String, fields: String, expected: String) async throws {
        let route = HTTPRoute(.get, "/who") { request in
            let text = request.clientAddress.map { "\($0)" } ?? "nobody"
            return OutgoingResponse(status: .ok, contentType: nil, body: Array(text.utf8))
        }
        let networks = proxies.split(separator: ",").compactMap { AddressNetwork(String($0)) }
        try await TestServer.with(routes: [route], settings: { $0.trustedProxies = networks }) { server in
            let client = try await server.connect()
            client.send("GET /who HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
            #expect(try await client.response().body == expected)
        }
    }

    @Test("a reload of trusted proxies and of the log's policy holds from the next request of an open connection on")
    func reloaded() async throws {
        let lines = AccessLogTests.Lines()
        let logger = Logger(label: "test") { _ in AccessLogTests.Recorder(lines) }
        let change = { (settings: inout HTTPServerSettings) in settings.requestLog = .errors }
        try await TestServer.with(logger: logger, settings: change) { server in
            let client = try await server.connect()
            func ask() async throws {
                client.send(
                    "POST /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: good\r\nX-Forwarded-For: 192.0.2.1\r\n"
                        + "Content-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"query\":\"a\"}"
                )
                #expect(try await client.response().status == 200)
            }
            try await ask()
            #expect(lines.all.withLock { $0.filter { $0.hasPrefix("request ") }.isEmpty })
            var settings = HTTPServerSettings()
            for (networks, address) in [("127.0.0.1", "192.0.2.1"), ("10.0.0.1", "127.0.0.1")] {
                settings.trustedProxies = [AddressNetwork(networks)].compactMap(\.self)
                server.server.apply(try server.server.change(to: settings, routes: []))
                try await ask()
                let last = lines.all.withLock { $0.last { $0.hasPrefix("request ") } }
                #expect(last?.contains("client_address=\(address) ") == true, "\(String(describing: last))")
            }
        }
    }

    @Test("of many hops the last ones are looked at, so that a client far behind them is not named")
    func manyHops() async throws {
        let hops = ["192.0.2.1"] + Array(repeating: "10.0.0.9", count: 31)
        for (count, expected) in [(31, "10.0.0.9"), (32, "192.0.2.1"), (33, "192.0.2.1")] {
            let sent = (Array(repeating: "203.0.113.5", count: max(0, count - 32)) + hops.suffix(count))
                .joined(separator: ", ")
            try await forwarded(
                proxies: "127.0.0.1,10.0.0.0/8",
                fields: "X-Forwarded-For: \(sent)\r\n",
                expected: expected
            )
        }
        let more = (["192.0.2.1"] + Array(repeating: "10.0.0.9", count: 32)).joined(separator: ", ")
        try await forwarded(
            proxies: "127.0.0.1,10.0.0.0/8",
            fields: "X-Forwarded-For: \(more)\r\n",
            expected: "10.0.0.9"
        )
    }

    @Test(
        "a proxy's id of a request is taken if it is well formed; else, and from anybody else, ours is",
        arguments: [
            ("127.0.0.1", "X-Request-Id: abc.DEF_1-2\r\n", "abc.DEF_1-2"),
            ("127.0.0.1", "X-Request-Id: \(String(repeating: "a", count: 64))\r\n", String(repeating: "a", count: 64)),
            ("127.0.0.1", "X-Request-Id: \(String(repeating: "a", count: 65))\r\n", "own"),
            ("127.0.0.1", "X-Request-Id: \r\n", "own"), ("127.0.0.1", "X-Request-Id: a b\r\n", "own"),
            ("127.0.0.1", "X-Request-Id: a\"b\r\n", "own"),
            ("127.0.0.1", "X-Request-Id: a\r\nX-Request-Id: b\r\n", "own"), ("127.0.0.1", "", "own"),
            ("none", "X-Request-Id: abc\r\n", "own"),
        ]
    )
    func requestID(proxies: String, fields: String, expected: String) async throws {
        let networks = proxies.split(separator: ",").compactMap { AddressNetwork(String($0)) }
        let route = HTTPRoute(.get, "/id") { request in
            OutgoingResponse(status: .ok, contentType: nil, body: Array(request.id.utf8))
        }
        try await TestServer.with(
            routes: [route],
            settings: { ($0.trustedProxies, $0.requestIDPrefix) = (networks, "run-") }
        ) { server in
            let client = try await server.connect()
            // Also of requests whose heads differ in nothing else.
            for number in 1...3 {
                client.send("GET /id HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
                let answer = try await client.response()
                let own = "run-1-\(number)"
                #expect(answer.body == (expected == "own" ? own : expected))
                #expect(answer.fields["x-request-id"] == answer.body)
            }
            client.send("GET /id HTTP/1.1\r\nHost: a\r\nX-Request-Id: last\r\n\r\n")
            #expect(try await client.response().body == (networks.isEmpty ? "run-1-4" : "last"))
        }
    }

    @Test("what could not be read has an id too")
    func idOfRefusal() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.send("nonsense\r\n\r\n")
            let answer = try await client.response()
            #expect(answer.status == 400 && answer.fields["x-request-id"] == "1-1")
        }
    }

    @Test(
        "a network has the addresses that begin with its bits",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("10.1.2.3", "10.1.2.3", true),
            ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "2001:db8::1", false), ("::/0", "2001:db8::1", true),
            ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
            ("2001:db8::/96", "2001:db8::1.2.3.4", true), ("2001:db8::/96", "2001:db8::1:0:0", false),
            ("10.0.0.0/8", "::ffff:10.0.0.1", true), ("::1", "::1", true), ("::1", "::2", false),
        ]
    )
    func networks(network: String, address: String, isIn: Bool) throws {
        let network = try #require(AddressNetwork(network))
        #expect(network.contains(try #require(IPAddress(address))) == isIn)
    }

    @Test(
        "what is no network is refused",
        arguments: ["", "10.0.0", "10.0.0.0/33", "10.0.0.0/-1", "::/129", "a/8", "/"]
    )
    func noNetwork(text: String) { #expect(AddressNetwork(text) == nil) }
}
