import Foundation
import Glibc
import JSON
import Testing
import TocsinClient

@Suite("Readers that do not read", .timeLimit(.minutes(10)))
struct SlowReaderTests {
    private static let follow =
        "subscription($t: ID, $a: String) { onCreateMessage(topicId: $t, after: $a) { number } }"
    private static let queueBytes = 65_536
    private static let bodyBytes = 8_000
    private static let messages = 80

    @Test("a thousand of them cost no more than their queues; others get everything, publishers their answers")
    func thousand() async throws {
        let count = Self.raiseFileLimit(to: 1_000)
        try await Installation.run { installation in
            installation.environment["TOCSIN_SOCKET_QUEUE_BYTES"] = "\(Self.queueBytes)"
            installation.environment["TOCSIN_SOCKET_WRITE_SECONDS"] = "600"
            installation.environment["TOCSIN_SOCKET_PING_SECONDS"] = "600"
            installation.environment["TOCSIN_SOCKETS_PER_OWNER"] = "2000"
        } _: { installation in
            let token = try await installation.addUser("ada")
            let client = try installation.makeClient(token: token)
            let topic = try await client.makeTopic(named: "alerts")
            let reader = try await Self.follower(installation, token)
            var sleepers: [RawSocket] = []
            for _ in 0..<count {
                sleepers.append(try await Self.follower(installation, token, hasSmallWindow: true))
            }
            for socket in [reader] + sleepers { try await Self.subscribe(socket, topic) }
            for socket in [reader] + sleepers { try await Self.expect("pong", from: socket) }
            let watched = try await client.query(
                "query($i: ID!) { getTopic(id: $i) { watchers } }",
                variables: ["i": .string(topic)]
            )
            #expect(watched["getTopic"]?["watchers"]?.intValue == Int64(count + 1))

            let before = try Self.memory("VmRSS", of: installation)
            let body = String(repeating: "x", count: Self.bodyBytes)
            for number in 1...Self.messages {
                _ = try await client.publish(topic: .id(topic), title: "\(number)", body: body)
                guard case .message(let event) = try await reader.next() else {
                    Issue.record("The reader's socket has closed after \(number) messages.")
                    return
                }
                #expect(event["payload"]?["data"]?["onCreateMessage"]?["number"]?.intValue == Int64(number))
            }
            // What waits, in a buffer that grows by doubling, and the socket's own.
            let boundOfOne = 2 * (Self.queueBytes + Self.bodyBytes + 1_000) + 32_768
            let growth = try Self.memory("VmHWM", of: installation) - before
            #expect(growth < count * boundOfOne + (64 << 20), "grew by \(growth >> 20) MiB")
            print("\(count) slow readers: the server grew by \(growth >> 20) MiB at most")
            #expect(growth < count * Self.messages * Self.bodyBytes / 2, "else the bound says nothing")

            try await Self.expectResumable(sleepers[count / 2], installation, token, topic)
        }
    }

    /// A socket that has introduced itself.
    private static func follower(
        _ installation: Installation,
        _ token: String,
        hasSmallWindow: Bool = false
    ) async throws -> RawSocket {
        let socket = try await RawSocket(
            port: installation.server?.port ?? 0,
            path: "/graphql",
            subprotocols: "graphql-transport-ws",
            hasSmallWindow: hasSmallWindow
        )
        try socket.send(["type": "connection_init", "payload": ["Authorization": .string(token)]])
        return socket
    }

    private static func subscribe(_ socket: RawSocket, _ topic: String) async throws {
        try await expect("connection_ack", from: socket)
        let document = "subscription { onCreateMessage(topicId: \"\(topic)\") { number body } }"
        try socket.send(["id": "1", "type": "subscribe", "payload": ["query": .string(document)]])
        try socket.send(["type": "ping"])
    }

    private static func expect(_ type: JSONValue, from socket: RawSocket) async throws {
        let event = try await socket.next()
        guard case .message(let message) = event, message["type"] == type else {
            throw HarnessFailure("Not \(type), but \(event).")
        }
    }

    /// It wakes up: what it gets has no hole, then the cursor to go on from, then 1013; the
    /// rest comes with the cursor.
    private static func expectResumable(
        _ socket: RawSocket,
        _ installation: Installation,
        _ token: String,
        _ topic: String
    ) async throws {
        var last: Int64 = 0
        var cursor: String?
        loop: while true {
            switch try await socket.next() {
            case .message(let message) where message["type"] == "next":
                last += 1
                #expect(message["payload"]?["data"]?["onCreateMessage"]?["number"]?.intValue == last)
            case .message(let message):
                #expect(message["type"] == "error")
                let extensions = message["payload"]?.arrayValue?.first?["extensions"]
                #expect(extensions?["code"] == "UNAVAILABLE")
                cursor = extensions?["cursor"]?.stringValue
            case .close(let code, let reason):
                #expect(code == 1013)
                #expect(reason == "Too much is waiting to be read; come again and resume")
                break loop
            case .end: throw HarnessFailure("The socket ended without a close frame.")
            }
        }
        #expect(last > 0 && last < messages)
        let again = try await RawSocket(installation, token: token)
        guard case .message = try await again.next() else { throw HarnessFailure("The socket is not ready.") }
        let variables: JSONObject = ["t": .string(topic), "a": .string(try #require(cursor))]
        try again.send([
            "id": "1", "type": "subscribe",
            "payload": ["query": .string(follow), "variables": .object(variables)],
        ])
        for number in (last + 1)...Int64(messages) {
            guard case .message(let event) = try await again.next() else { throw HarnessFailure("The socket closed.") }
            #expect(event["payload"]?["data"]?["onCreateMessage"]?["number"]?.intValue == number)
        }
    }

    /// Lets this process and its children have so many connections each way;
    /// answers how many there may be.
    private static func raiseFileLimit(to count: Int) -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 200 }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, rlim_t(count + 1_000)))
        setrlimit(resource, &limit)
        return max(200, min(count, Int(clamping: limit.rlim_cur) - 1_000))
    }

    /// A line of the server's memory, in bytes.
    private static func memory(_ name: String, of installation: Installation) throws -> Int {
        let processID = try #require(installation.server?.process.processID)
        let status = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        return try #require(kilobytes) * 1024
    }
}
