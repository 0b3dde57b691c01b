import Foundation
import JSON
import Testing
import TocsinClient

@Suite("Answers that are cut off", .timeLimit(.minutes(5)))
struct ResetTests {
    /// How the peer ends a connection on which it owes an answer.
    enum Cut: CaseIterable {
        /// As the system does for a process that was killed with bytes unread.
        case reset
        case midway
    }

    @Test(
        "a connection that breaks before or in its answer is no strange server: the query is asked again",
        arguments: Cut.allCases
    )
    func repeats(cut: Cut) async throws {
        let peer = try CuttingPeer(cut)
        var settings = ClientSettings()
        settings.requestPauses = Backoff(first: .milliseconds(1), longest: .milliseconds(20))
        let client = try TocsinClient(url: "http://127.0.0.1:\(peer.port)", token: "t", settings: settings)
        #expect(try await client.query("{ me { userId } }") == ["me": "ada"])
    }
}

/// Cuts the first connection off and answers on the second, each after it has read a request.
private final class CuttingPeer: Sendable {
    let port: Int

    init(_ cut: ResetTests.Cut) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) + listen(listener, 4) + getsockname(listener, $0, &size)
            }
        }
        try #require(status == 0)
        Self.limitWaiting(listener)
        port = Int(in_port_t(bigEndian: address.sin_port))
        Thread.detachNewThread {
            Self.serve(listener) { connection in
                if cut == .midway { Self.send("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"da", connection) }
                var linger = linger(l_onoff: cut == .reset ? 1 : 0, l_linger: 0)
                setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
            }
            Self.serve(listener) { connection in
                let body = #"{"data":{"me":"ada"}}"#
                let head = "HTTP/1.1 200 OK\r\nContent-Type: application/graphql-response+json\r\n"
                Self.send(head + "Content-Length: \(body.utf8.count)\r\n\r\n" + body, connection)
            }
            close(listener)
        }
    }

    private static func serve(_ listener: Int32, _ answer: (Int32) -> Void) {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        limitWaiting(connection)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        _ = recv(connection, &buffer, buffer.count, 0)
        answer(connection)
        close(connection)
    }

    private static func limitWaiting(_ descriptor: Int32) {
        var time = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    private static func send(_ text: String, _ connection: Int32) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
