import Foundation
import JSON
import Synchronization
import Testing
import TocsinClient

@Suite("A storm of alerts, while the server is killed", .timeLimit(.minutes(10)))
struct AlertStormTests {
    private static let keys = 10_000
    private static let ofPost = 100
    private static let senders = 4
    private static let kills = 3

    /// The key of an alert.
    private static func key(_ number: Int) -> String { "host-\(number)" }

    @Test("ten thousand alerts in posts of a hundred: one incident a key, none lost, none doubled")
    func storm() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let way = try await scene.way("EVENT", ["ratePerMinute": 100_000])
            let sender = Sender(url: way.url, folder: installation.folder)
            let answered = Answered()
            let posts = Self.keys / Self.ofPost
            try await withThrowingTaskGroup(of: Void.self) { group in
                for first in 0..<Self.senders {
                    group.addTask {
                        for post in stride(from: first, to: posts, by: Self.senders) {
                            try await sender.insist(post)
                            answered.count.withLock { $0 += 1 }
                        }
                    }
                }
                for kill in 1...Self.kills {
                    let mark = posts * kill / (Self.kills + 1)
                    try await eventually("\(mark) posts are answered") { answered.count.withLock { $0 } >= mark }
                    try await installation.killAndRestartServer()
                }
                try await group.waitForAll()
            }
            try await Self.expectOneEach(installation, scene)
        }
    }

    private final class Answered: Sendable {
        let count = Mutex(0)
    }

    private struct Sender: Sendable {
        let url: String
        let folder: String

        /// Posts until it is answered, as senders do.
        func insist(_ post: Int) async throws {
            let events = (post * AlertStormTests.ofPost..<(post + 1) * AlertStormTests.ofPost).map {
                #"{"action":"trigger","key":"\#(AlertStormTests.key($0))","title":"Down: \#($0)","severity":"critical"}"#
            }
            let file = folder + "/post-\(post).json"
            try ("[" + events.joined(separator: ",") + "]").write(toFile: file, atomically: true, encoding: .utf8)
            let arguments = [
                "--silent", "--fail", "--max-time", Patience.ofCurl, "--output", "/dev/null", "--header",
                "Content-Type: application/json", "--data-binary", "@" + file, url,
            ]
            try await eventually("post \(post) is answered") {
                try await ChildProcess.run(
                    "/usr/bin/curl",
                    arguments,
                    environment: TestBinary.environment,
                    folder: folder
                ).status == 0
            }
        }
    }

    private static func expectOneEach(_ installation: Installation, _ scene: ReceiverScene) async throws {
        let client = try installation.makeClient(token: scene.ada)
        let query = """
            query($t: ID!, $n: String) { incidentsByTopicIdAndOpenedAt(topicId: $t, limit: 100, nextToken: $n) {
                nextToken items { number key state timeline(limit: 5) { items { change } } } } }
            """
        var (counts, numbers, changes) = ([String: Int](), Set<Int64>(), [String: Int]())
        var next = JSONValue.null
        repeat {
            let variables: JSONObject = ["t": .string(scene.topicID), "n": next]
            let page = try await client.query(query, variables: variables)["incidentsByTopicIdAndOpenedAt"]
            for item in page?["items"]?.arrayValue ?? [] {
                counts[item["key"]?.stringValue ?? "", default: 0] += 1
                numbers.insert(item["number"]?.intValue ?? 0)
                for entry in item["timeline"]?["items"]?.arrayValue ?? [] {
                    changes[entry["change"]?.stringValue ?? "", default: 0] += 1
                }
            }
            next = page?["nextToken"] ?? .null
        } while next != .null
        let missing = (0..<keys).filter { counts[key($0)] == nil }
        #expect(missing.isEmpty, "lost: \(missing.prefix(10)), \(missing.count) in all")
        #expect(counts.filter { $0.value > 1 }.isEmpty && counts.count == keys)
        #expect(numbers == Set(1...Int64(keys)), "numbers are dense")
        #expect(changes == ["OPENED": keys], "\(changes)")
        let last = try await client.query(
            "query($t: ID!) { getTopic(id: $t) { lastNumber } }",
            variables: ["t": .string(scene.topicID)]
        )
        #expect(last["getTopic"]?["lastNumber"] == .int(Int64(keys)), "one message each")
    }
}
