import Testing
import TocsinCore
import TocsinServer

@Suite("Outgoing calls to addresses that others name", .timeLimit(.minutes(5)))
struct GuardedCallTests {
    private static let refusal = "its address is not of the public internet"

    private func reason(_ url: String, _ addresses: OutgoingAddresses, _ client: CurlClient = CurlClient()) async
        -> String?
    {
        var request = OutgoingRequest(url: url, timeoutSeconds: 120)
        request.addresses = addresses
        guard case .failed(let reason) = await client.send(request) else { return nil }
        return reason
    }

    @Test("no socket is opened to this machine or a private network, however its address is written")
    func refused() async throws {
        let server = try LoopbackServer { _ in "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n" }
        for host in ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "[::1]", "[::ffff:127.0.0.1]"] {
            #expect(await reason("http://\(host):\(server.port)/", .publicOnly) == Self.refusal, "\(host)")
        }
        for host in ["10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "[fd00::1]", "0.0.0.0"] {
            for addresses in [OutgoingAddresses.publicOnly, .publicOrLoopback] {
                #expect(await reason("http://\(host):\(server.port)/", addresses) == Self.refusal, "\(host)")
            }
        }
        #expect(server.received.isEmpty)
    }

    @Test("a call that may go anywhere opens no way for one that may not")
    func besideOthers() async throws {
        let server = try LoopbackServer { _ in "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" }
        let client = CurlClient()
        #expect(await reason(server.address, .any, client) == nil)
        #expect(await reason(server.address, .publicOnly, client) == Self.refusal)
        #expect(await reason(server.address, .publicOrLoopback, client) == nil)
        #expect(server.received.count == 2)
    }

    @Test(
        "what is said of a failure does not name the address",
        arguments: ["http://no-such-host.invalid/", "ftp://127.0.0.1/"]
    )
    func words(url: String) async throws {
        let reason = try #require(await reason(url, .publicOrLoopback))
        #expect(
            !reason.contains("invalid/") && !reason.contains("no-such-host") && !reason.contains("127"),
            "\(reason)"
        )
    }
}
