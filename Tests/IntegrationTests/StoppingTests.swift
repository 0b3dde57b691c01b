import Foundation
import JSON
import Synchronization
import Testing
import TocsinClient

@Suite("SIGTERM while everybody is at work", .timeLimit(.minutes(5)))
struct StoppingTests {
    /// Accepted by the simulator, but two seconds late.
    private static let slowPhone = "510e" + String(repeating: "a3", count: 30)

    @Test(
        "what was answered is kept, sockets are told 1001, and the outbox finishes after the restart",
        arguments: [10, 1]
    )
    func underLoad(stopSeconds: Int) async throws {
        let prepare = { (installation: Installation) in
            installation.environment["TOCSIN_STOP_SECONDS"] = "\(stopSeconds)"
        }
        try await Installation.run(prepare: prepare) { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.ada)
            _ = try await client.registerPushToken(DeviceRegistration(token: Self.slowPhone, platform: "ios"))
            let socket = try await RawSocket(installation, token: scene.ada)
            try await socket.subscribe("subscription { onCreateMessage { id } }")
            let publishers = try (1...6).map { try Publisher($0, installation, scene) }
            try await eventually("the publishers and the outbox are at work") {
                guard publishers.allSatisfy({ $0.answered.count >= 5 }) else { return false }
                return try await Self.pushesUnderWay(client, installation) > 0
            }
            #expect(try await installation.stopServer() == 0, "\(installation.log)")
            let unanswered = Self.unanswered(installation.logLines)
            // The slow phone's provider answers after two seconds.
            #expect((unanswered > 0) == (stopSeconds < 2), "\(unanswered)")
            #expect(try await socket.untilClosed() == 1001)
            for publisher in publishers { try await publisher.untilRefused() }

            try await installation.startServerAgain()
            let answered = Set(publishers.flatMap(\.answered))
            let stored = try await Self.storedTitles(scene)
            #expect(answered.subtracting(stored).isEmpty, "answered, but not there")
            #expect(Set(stored).subtracting(answered).isEmpty, "stored, but not answered")
            #expect(stored.count == Set(stored).count)
            try await Self.expectPushes(of: stored, unansweredAtStop: unanswered, scene)
        }
    }

    @Test("a request that was begun before the stop is answered; the server is not ready any more")
    func begunRequests() async throws {
        try await Installation.run { installation in
            let token = try await installation.addUser("ada")
            let port = installation.server?.port ?? 0
            let probe = try RawConnection(port: port)
            let idle = try RawConnection(port: port)
            let late = try RawConnection(port: port)
            let body = #"{"query":"mutation { createTopic(input: { name: \"late\" }) { name } }"}"#
            try probe.send("GET /readyz HTTP/1.1\r\n")
            try late.send(
                "POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\nContent-Length: \(body.utf8.count)\r\n"
                    + "Content-Type: application/json\r\nExpect: 100-continue\r\n\r\n"
            )
            try await eventually("the server has read the head") {
                late.look()
                return String(decoding: late.received, as: UTF8.self).hasPrefix("HTTP/1.1 100 ")
            }
            installation.server?.process.signal(SIGTERM)
            _ = try await idle.untilEnd()
            try probe.send("Host: x\r\n\r\n")
            let ready = try await probe.untilEnd()
            #expect(ready.hasPrefix("HTTP/1.1 503 "), "\(ready)")
            try late.send(body)
            let answer = try await late.untilEnd()
            #expect(answer.contains("HTTP/1.1 200 ") && answer.contains(#""name":"late""#), "\(answer)")
            #expect(try await installation.server?.process.untilExit() == 0)
            try await installation.startServerAgain()
            let topics = try await installation.curl("{ listTopics { items { name } } }", token: token)
            #expect(topics == ["data": ["listTopics": ["items": [["name": "late"]]]]])
        }
    }

    /// How many pushes the server put back without an answer when it stopped.
    private static func unanswered(_ log: [JSONValue]) -> Int {
        let lines = log.filter { $0["message"]?.stringValue?.hasPrefix("pushes without an answer") == true }
        return lines.compactMap { $0["pushes"]?.intValue.map { Int($0) } }.reduce(0, +)
    }

    /// Pushes that the simulator has taken and the server has no answer to yet.
    private static func pushesUnderWay(_ client: TocsinClient, _ installation: Installation) async throws -> Int64 {
        let taken = try await installation.simulator?.pushes().filter(\.isAccepted).count ?? 0
        let query = "{ listMessages(limit: 1000) { items { deliverySummary { accepted } } } }"
        let items = try await client.query(query)["listMessages"]?["items"]?.arrayValue ?? []
        return Int64(taken) - items.reduce(0) { $0 + ($1["deliverySummary"]?["accepted"]?.intValue ?? 0) }
    }

    private static func storedTitles(_ scene: Scene) async throws -> [String] {
        let query = "query($t: String) { listMessages(limit: 100, nextToken: $t) { items { title } nextToken } }"
        var titles: [String] = []
        var token: JSONValue = .null
        for _ in 0..<100 {
            let answer = try await scene.installation.curl(query, ["t": token], token: scene.ada)
            guard let page = answer["data"]?["listMessages"] else { throw HarnessFailure("listMessages: \(answer)") }
            titles += page["items"]?.arrayValue?.compactMap { $0["title"]?.stringValue } ?? []
            token = page["nextToken"] ?? .null
            if token == .null { return titles }
        }
        throw HarnessFailure("The pages do not end.")
    }

    private static func expectPushes(of titles: [String], unansweredAtStop: Int, _ scene: Scene) async throws {
        let phones = Phone.ofAda + [slowPhone]
        let wanted = Set(phones.flatMap { phone in titles.map { [phone, $0] } })
        let pushes = try await eventually("every phone has got every message") { () -> [SeenPush]? in
            let pushes = try await scene.installation.simulator?.pushes().filter(\.isAccepted) ?? []
            return Set(pushes.map { [$0.token, $0.title] }).isSuperset(of: wanted) ? pushes : nil
        }
        #expect(Set(pushes.map { [$0.token, $0.title] }) == wanted)
        let doubled = pushes.count - wanted.count
        #expect(doubled <= unansweredAtStop, "\(doubled) doubled, \(unansweredAtStop) were under way at the stop")
    }
}

/// Publishes one message after the other until the server refuses, each tried once only.
private final class Publisher: Sendable {
    private struct Seen {
        var answered: [String] = []
        var refusal: String?
    }

    private final class Record: Sendable {
        let seen = Mutex(Seen())
    }

    private let record = Record()
    private let task: Task<Void, Never>

    init(_ number: Int, _ installation: Installation, _ scene: Scene) throws {
        var settings = ClientSettings()
        settings.isPatientButQuick()
        settings.maximumAttempts = 1
        let client = try TocsinClient(url: installation.address, token: scene.ada, settings: settings)
        let record = record
        let topicID = scene.topicID
        task = Task {
            for count in 1...10_000 {
                let title = "\(number)-\(count)"
                do throws(ClientError) {
                    _ = try await client.publish(topic: .id(topicID), title: title)
                    record.seen.withLock { $0.answered.append(title) }
                } catch {
                    return record.seen.withLock { $0.refusal = error.description }
                }
            }
        }
    }

    deinit { task.cancel() }

    /// The titles of the messages that the server has answered.
    var answered: [String] { record.seen.withLock { $0.answered } }

    func untilRefused() async throws {
        try await eventually("the publisher is refused") {
            record.seen.withLock { $0.refusal != nil }
        }
    }
}
