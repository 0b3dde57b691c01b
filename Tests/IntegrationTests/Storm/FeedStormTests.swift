import Foundation
import JSON
import Testing
import TocsinClient

/// Subscribers of every carrier, with a topic and over all, while publishers publish, clients drop
/// and stall, and the server is killed.
///
/// `TOCSIN_STORM_SECONDS` says for how long, `TOCSIN_STORM_SEED` repeats a storm's choices.
@Suite("A storm on the live feed", .timeLimit(.minutes(60)))
struct FeedStormTests {
    private static let topics = ["calls", "disks", "doors"]

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
    }

    @Test("whatever is dropped, stalled and killed, every subscriber gets every message once and in order")
    func storm() async throws {
        let seed = Self.number("TOCSIN_STORM_SEED") ?? UInt64.random(in: 0...UInt64(Int32.max))
        let seconds = Self.number("TOCSIN_STORM_SECONDS") ?? 12
        print("The storm's seed is \(seed), its length \(seconds) s.")
        try await Installation.run { installation in
            let token = try await installation.addUser("ada")
            let client = try installation.makeClient(token: token)
            var starts: [String: (number: Int64, cursor: String)] = [:]
            for topic in Self.topics {
                let id = try await client.makeTopic(named: topic)
                let first = try await client.publish(topic: .id(id), title: "first")
                starts[id] = (first.number, first.cursor)
            }
            // The cursor of the last first message covers all topics.
            let last = try await client.publish(topic: .id(starts.keys.sorted()[0]), title: "second")
            starts[last.topicID] = (last.number, last.cursor)

            let scene = StormScene(
                port: installation.server?.port ?? 0,
                token: token,
                starts: starts.mapValues(\.number),
                cursors: starts.mapValues(\.cursor),
                latest: last.cursor,
                seed: seed
            )
            try await scene.run(seconds: Double(seconds), publisher: client) {
                try await installation.killAndRestartServer()
            }
        }
    }
}

/// One storm: where everybody starts, and what is counted at its end.
private struct StormScene {
    let port: Int
    let token: String
    let starts: [String: Int64]
    let cursors: [String: String]
    let latest: String
    let seed: UInt64
    let weather = StormWeather()

    private var subscribers: [StormSubscriber] {
        var random = StormRandom(seed: seed)
        return StormCarrier.allCases.flatMap { carrier in
            ([nil, nil] + starts.keys.sorted().map(Optional.some)).enumerated().map { index, topic in
                StormSubscriber(
                    name: "\(carrier) \(topic ?? "all") \(index)",
                    carrier: carrier,
                    topicID: topic,
                    port: port,
                    token: token,
                    weather: weather,
                    random: StormRandom(seed: random.next()),
                    seen: topic.map { [$0: starts[$0] ?? 0] } ?? starts,
                    cursor: topic.flatMap { cursors[$0] } ?? latest
                )
            }
        }
    }

    /// Publishes to a topic until the time is over; every message is kept once,
    /// whatever happens to its answer.
    private func publish(_ topic: String, until end: ContinuousClock.Instant, _ client: TocsinClient) async throws
        -> (topic: String, last: Int64)
    {
        var random = StormRandom(seed: seed &+ UInt64(starts.keys.sorted().firstIndex(of: topic) ?? 0) &+ 17)
        var last = starts[topic] ?? 0
        while .now < end {
            var draft = MessageDraft(title: "storm", body: "", type: 0)
            draft.body = String(repeating: "x", count: Int.random(in: 0...20, using: &random) * 100)
            draft.id = UUID().uuidString.lowercased()
            while true {
                do throws(ClientError) {
                    let published = try await client.publish(topic: .id(topic), draft)
                    guard published.number == last + 1 else {
                        throw ClientError(.badAnswer, "Number \(published.number) was given after \(last).")
                    }
                    last = published.number
                    break
                } catch {
                    guard error.code != .badAnswer else { throw error }
                    try await Task.sleep(for: .milliseconds(30))
                }
            }
            if random.happens(oneIn: 150) {
                try await Task.sleep(for: .milliseconds(Int.random(in: 50...800, using: &random)))
            }
        }
        return (topic, last)
    }

    func run(seconds: Double, publisher: TocsinClient, kill: () async throws -> Void) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        try await withThrowingTaskGroup(of: (String, StormSubscriber.Counts).self) { group in
            for subscriber in subscribers {
                group.addTask {
                    var subscriber = subscriber
                    return (subscriber.name, try await subscriber.run())
                }
            }
            async let published = publishAll(until: end, publisher)
            var random = StormRandom(seed: seed &+ 1)
            while .now < end {
                try await Task.sleep(for: .milliseconds(Int.random(in: 800...4000, using: &random)))
                if .now < end { try await kill() }
            }
            let goal = try await published
            weather.calm(goal)
            var rows: [(String, StormSubscriber.Counts)] = []
            for try await row in group { rows.append(row) }
            for (name, counts) in rows.sorted(by: { $0.0 < $1.0 }) {
                print("\(name): \(counts.messages) messages over \(counts.connections) connections; \(counts.failures)")
            }
            print("Published: \(goal.values.sorted()).")
            let all = zip(goal.sorted { $0.key < $1.key }, starts.sorted { $0.key < $1.key }).map {
                $0.value - $1.value
            }
            #expect(rows.filter { $0.0.contains(" all ") }.allSatisfy { $0.1.messages == Int(all.reduce(0, +)) })
        }
    }

    private func publishAll(until end: ContinuousClock.Instant, _ client: TocsinClient) async throws -> [String: Int64]
    {
        try await withThrowingTaskGroup(of: (topic: String, last: Int64).self) { group in
            for topic in starts.keys { group.addTask { try await publish(topic, until: end, client) } }
            var goal: [String: Int64] = [:]
            for try await (topic, last) in group { goal[topic] = last }
            return goal
        }
    }
}
