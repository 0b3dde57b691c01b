import Foundation
import JSON
import Synchronization
import TestDatabases
import Testing
import TocsinClient
import TocsinPostgres
import TocsinStore

/// Senders post to two nodes, some of them the same to both at once, while either is killed.
///
/// `TOCSIN_STORM_ALERTS` says how many alerts, `TOCSIN_STORM_KILLS` how many kills;
/// `TOCSIN_STORM_SEED` repeats a storm's choices.
@Suite(
    "A storm of alerts at two nodes, while they are killed",
    .enabled(if: PostgresServer.named != nil),
    .timeLimit(.minutes(20))
)
struct NodeAlertStormTests {
    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }

    private static let keys = max(100, number("TOCSIN_STORM_ALERTS") ?? 600) / 100 * 100
    private static let kills = number("TOCSIN_STORM_KILLS") ?? 4
    private static let posts = 100
    private static let senders = 4
    private static let phones = [PushScene.phone("ab"), Phone.android]

    /// What becomes of an alert after its trigger.
    private enum Fate: Int {
        case staysOpen, acknowledged, resolved, acknowledgedAndResolved

        init(of number: Int) { self = Fate(rawValue: number % 4) ?? .staysOpen }

        var actions: [String] {
            switch self {
            case .staysOpen: []
            case .acknowledged: ["acknowledge"]
            case .resolved: ["resolve"]
            case .acknowledgedAndResolved: ["acknowledge", "resolve"]
            }
        }

        var state: String { ["OPEN", "ACKNOWLEDGED", "RESOLVED", "RESOLVED"][rawValue] }

        var changes: [String] {
            ["OPENED"] + actions.map { $0 == "acknowledge" ? "ACKNOWLEDGED" : "RESOLVED" }
        }
    }

    @Test("one incident a key, none lost, none doubled, and every phone shows what is open and nothing else")
    func storm() async throws {
        let seed = UInt64(Self.number("TOCSIN_STORM_SEED") ?? Int.random(in: 0...Int(Int32.max)))
        print("The storm's seed is \(seed), its alerts \(Self.keys), its kills \(Self.kills).")
        try await Cluster.run(
            2,
            environment: ["TOCSIN_PUSH_REQUEST_TIMEOUT_SECONDS": "2", "TOCSIN_PUSH_LEASE_SECONDS": "4"],
            simulator: ["--quiet", "--records", "1000000"]
        ) { cluster in
            let token = try await cluster.addUser("ada")
            let client = try cluster.client(0, token)
            for phone in Self.phones { try await PushScene.register(phone, client) }
            let topicID = try await client.makeTopic(named: "alerts")
            let key = try await Self.makeWay(topicID, client)
            let urls = [0, 1].map { "http://127.0.0.1:\(cluster.port($0))/in/\(key)" }
            let begin = ContinuousClock.now
            var random = StormRandom(seed: seed)
            // Phones are looked at for alerts whose changes come one by one, and for the others.
            for stage in Stage.allCases {
                try await Self.rage(stage, cluster, urls, &random)
                try await eventually("no push is under way", withinSeconds: 4 * Patience.seconds) {
                    try Self.underWay(cluster) == 0
                }
            }
            let settled = ContinuousClock.now - begin
            try await Self.expectOneEach(topicID, client)
            let pushes = try await Self.expectScreens(cluster)
            print("\(Self.keys) alerts and \(pushes) pushes in \(settled).")
        }
    }

    /// A way in, by its key.
    private static func makeWay(_ topicID: String, _ client: TocsinClient) async throws -> String {
        let made = try await client.mutate(
            "mutation($input: CreateIntegrationInput!) { createIntegration(input: $input) { id } }",
            variables: [
                "input": ["name": "storm", "kind": "EVENT", "topicId": .string(topicID), "ratePerMinute": 100_000]
            ]
        )
        let rotated = try await client.mutate(
            "mutation($id: ID!) { rotateIntegrationKey(id: $id) { key } }",
            variables: ["id": made["createIntegration"]?["id"] ?? .null]
        )
        return rotated["rotateIntegrationKey"]?["key"]?.stringValue ?? ""
    }

    // MARK: The storm

    private enum Stage: String, CaseIterable {
        case trigger, acknowledge, resolve
    }

    private final class Answered: Sendable {
        let count = Mutex(0)
    }

    /// Whether all changes of a post's alerts come at once, through whichever nodes.
    private static func isHurried(_ post: Int) -> Bool { post % 4 == 0 }

    private static let each = keys / posts

    /// Posts a stage of everything, and kills nodes meanwhile.
    private static func rage(
        _ stage: Stage,
        _ cluster: Cluster,
        _ urls: [String],
        _ random: inout StormRandom
    ) async throws {
        let answered = Answered()
        let folder = NSTemporaryDirectory() + "tocsin-storm-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for first in 0..<senders {
                let fresh = Sender(urls: urls, folder: folder, random: StormRandom(seed: random.next()))
                group.addTask {
                    var sender = fresh
                    for post in stride(from: first, to: posts, by: senders) {
                        if stage == .trigger { try await sender.trigger(post) }
                        if stage == .trigger, isHurried(post) {
                            try await sender.tell(.acknowledge, post)
                            try await sender.tell(.resolve, post)
                        }
                        if stage != .trigger, !isHurried(post) { try await sender.tell(stage, post) }
                        answered.count.withLock { $0 += 1 }
                    }
                }
            }
            let number = (kills + 2 - (Stage.allCases.firstIndex(of: stage) ?? 0)) / 3
            for mark in (0..<number).map({ _ in Int.random(in: 1..<posts, using: &random) }).sorted() {
                try await eventually("\(mark) posts are answered", withinSeconds: 5 * Patience.seconds) {
                    answered.count.withLock { $0 } >= mark
                }
                let node = Int.random(in: 0...1, using: &random)
                try await cluster.kill(node)
                try await cluster.start(node)
            }
            try await group.waitForAll()
        }
    }

    private struct Sender {
        let urls: [String]
        let folder: String
        var random: StormRandom

        /// The alerts of a post.
        private func alerts(_ post: Int) -> Range<Int> {
            post * NodeAlertStormTests.each..<(post + 1) * NodeAlertStormTests.each
        }

        /// Posts the triggers; some posts go to both nodes at once.
        mutating func trigger(_ post: Int) async throws {
            let body = alerts(post).map {
                #"{"action":"trigger","key":"host-\#($0)","title":"Down: \#($0)","body":"91 %","severity":"critical"}"#
            }
            let node = Int.random(in: 0...1, using: &random)
            if random.happens(oneIn: 3) {
                let copy = self
                async let other: Void = copy.insist(body, 1 - node)
                try await insist(body, node)
                try await other
            } else {
                try await insist(body, node)
            }
        }

        /// Posts a change of those of the alerts that it comes to.
        mutating func tell(_ stage: Stage, _ post: Int) async throws {
            let body = alerts(post).filter { Fate(of: $0).actions.contains(stage.rawValue) }.map {
                #"{"action":"\#(stage.rawValue)","key":"host-\#($0)"}"#
            }
            try await insist(body, Int.random(in: 0...1, using: &random))
        }

        /// Posts until it is answered, to the nodes in turn, as senders do.
        private func insist(_ events: [String], _ first: Int) async throws {
            let file = folder + "/" + UUID().uuidString + ".json"
            try ("[" + events.joined(separator: ",") + "]").write(toFile: file, atomically: true, encoding: .utf8)
            var node = first
            try await eventually("a post is answered", withinSeconds: 2 * Patience.seconds) {
                defer { node = 1 - node }
                return try await ChildProcess.run(
                    "/usr/bin/curl",
                    [
                        "--silent", "--fail", "--max-time", Patience.ofCurl, "--output", "/dev/null", "--header",
                        "Content-Type: application/json", "--data-binary", "@" + file, urls[node],
                    ],
                    environment: TestBinary.environment,
                    folder: folder
                ).status == 0
            }
        }
    }

    // MARK: What is left

    private static func expectOneEach(_ topicID: String, _ client: TocsinClient) async throws {
        let query = """
            query($t: ID!, $n: String) { incidentsByTopicIdAndOpenedAt(topicId: $t, limit: 100, nextToken: $n) {
                nextToken items { number key state timeline(limit: 10) { items { change } }
                    messages(limit: 10) { items { incidentChange } } } } }
            """
        var (seen, numbers, messages, wrong) = ([String: Int](), Set<Int64>(), 0, [String]())
        var next = JSONValue.null
        repeat {
            let variables: JSONObject = ["t": .string(topicID), "n": next]
            let page = try await client.query(query, variables: variables)["incidentsByTopicIdAndOpenedAt"]
            for item in page?["items"]?.arrayValue ?? [] {
                let key = item["key"]?.stringValue ?? ""
                let fate = Fate(of: Int(key.dropFirst("host-".count)) ?? 0)
                seen[key, default: 0] += 1
                numbers.insert(item["number"]?.intValue ?? 0)
                let timeline = (item["timeline"]?["items"]?.arrayValue ?? []).map { $0["change"]?.stringValue ?? "" }
                let said = (item["messages"]?["items"]?.arrayValue ?? []).map {
                    $0["incidentChange"]?.stringValue ?? ""
                }
                messages += said.count
                if timeline != fate.changes || said.sorted() != fate.changes.sorted()
                    || item["state"]?.stringValue != fate.state
                {
                    wrong.append("\(key) \(item["state"] ?? .null): \(timeline), \(said)")
                }
            }
            next = page?["nextToken"] ?? .null
        } while next != .null
        let missing = (0..<keys).filter { seen["host-\($0)"] == nil }
        #expect(missing.isEmpty, "lost: \(missing.prefix(10)), \(missing.count) in all")
        #expect(seen.count == keys && seen.allSatisfy { $0.value == 1 }, "one incident a key")
        #expect(numbers == Set(1...Int64(keys)), "numbers are dense")
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(5))")
        let last = try await client.query(
            "query($t: ID!) { getTopic(id: $t) { lastNumber } }",
            variables: ["t": .string(topicID)]
        )
        #expect(last["getTopic"]?["lastNumber"] == .int(Int64(2 * keys)), "a message each change")
        #expect(messages == 2 * keys)
    }

    /// Deliveries that are to be sent, and fan-outs that go on.
    private static func underWay(_ cluster: Cluster) throws -> Int64? {
        let connection = try cluster.database.connect(.reader)
        defer { connection.close() }
        return try connection.first(
            """
            SELECT (SELECT count(*) FROM deliveries WHERE status IN ('waiting', 'sending'))
                + (SELECT count(*) FROM fanouts)
            """
        ) { $0.int(0) }
    }

    /// What the last push for each place on a screen says, over all phones; gives how many came.
    private static func expectScreens(_ cluster: Cluster) async throws -> Int {
        var shown: [String: [String: SeenPush]] = [:]
        var places: [String: Set<String>] = [:]
        var (count, since, rings) = (0, Int64(0), [String: Int]())
        while true {
            let page = try await cluster.simulator.get("/_pushes?since=\(since)&limit=200").arrayValue ?? []
            guard let last = page.last?["sequence"]?.intValue else { break }
            since = last
            for push in page.map(SeenPush.init) where push.isAccepted {
                count += 1
                let place = Self.place(of: push) ?? "none"
                shown[push.token, default: [:]][place] = push
                places[push.title, default: []].insert(place)
                if push.body == "91 %" { rings["\(push.token) \(push.title)", default: 0] += 1 }
            }
        }
        #expect(places.allSatisfy { $0.value.count == 1 }, "all pushes of an incident have one place")
        for phone in phones {
            let screen = shown[phone] ?? [:]
            var bodies: [String: String] = [:]
            for push in screen.values { bodies[push.title] = push.body }
            #expect(bodies.count == screen.count, "an incident is shown once")
            let calm = (0..<keys).filter { !isHurried($0 / each) }
            let wrong = calm.filter { !says($0, bodies["Down: \($0)"], mayBeUnseen: false) }
            #expect(
                wrong.isEmpty,
                "\(phone.prefix(8)): \(wrong.count), \(wrong.prefix(5).map { bodies["Down: \($0)"] })"
            )
            let hurried = (0..<keys).filter { isHurried($0 / each) }
            let late = hurried.filter { !says($0, bodies["Down: \($0)"], mayBeUnseen: true) }
            let wrongly = late.map { "\($0): \(bodies["Down: \($0)"] ?? "nothing")" }
            // Seldom any: what a node had sent when it was killed may come last.
            #expect(late.count * 50 <= hurried.count, "\(phone.prefix(8)): \(wrongly)")
        }
        print("\(rings.count { $0.value > 1 }) pushes were sent once more after a kill.")
        return count
    }

    /// Whether a notification says what has become of an alert in the end; nil: there is none.
    private static func says(_ number: Int, _ body: String?, mayBeUnseen: Bool) -> Bool {
        guard let body else { return mayBeUnseen && Fate(of: number) != .staysOpen }
        switch Fate(of: number) {
        case .staysOpen: return body == "91 %"
        case .acknowledged: return body.hasPrefix("Acknowledged")
        case .resolved, .acknowledgedAndResolved: return body.hasPrefix("Resolved")
        }
    }

    /// Where a push stands on its screen.
    private static func place(of push: SeenPush) -> String? {
        push.record["headers"]?["apns-collapse-id"]?.stringValue
            ?? push.record["payload"]?["message"]?["android"]?["notification"]?["tag"]?.stringValue
    }
}
