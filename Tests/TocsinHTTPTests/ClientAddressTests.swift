import Encodings
import HTTPTypes
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
