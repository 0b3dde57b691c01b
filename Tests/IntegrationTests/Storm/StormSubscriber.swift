import Foundation
import JSON
import Synchronization

/// Random numbers that a seed repeats (SplitMix64).
struct StormRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func happens(oneIn count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}

/// What all subscribers of a storm know of it.
final class StormWeather: Sendable {
    private let goals = Mutex<[String: Int64]?>(nil)

    /// The last number of each topic; nil while more may be published.
    ///
    /// Once it is known nothing is disturbed any more.
    var goal: [String: Int64]? { goals.withLock { $0 } }

    func calm(_ goal: [String: Int64]) { goals.withLock { $0 = goal } }
}

/// Follows one feed through everything, and checks every message as it comes.
struct StormSubscriber {
    let name: String
    let carrier: StormCarrier
    /// Nil: all topics.
    let topicID: String?
    let port: Int
    let token: String
    let weather: StormWeather
    var random: StormRandom
    /// The last number seen of each topic.
    var seen: [String: Int64]
    var cursor: String
    var counts = Counts()

    struct Counts {
        var messages = 0
        var connections = 0
        var failures: [String: Int] = [:]
    }

    /// Runs until everything has come; throws at the first message that is missed,
    /// doubled or out of order.
    mutating func run() async throws -> Counts {
        var end: ContinuousClock.Instant?
        while !isDone {
            if weather.goal != nil {
                end = end ?? .now + .seconds(2 * Patience.seconds)
                if let end, end < .now {
                    throw HarnessFailure("\(name) stands at \(seen), not at \(weather.goal ?? [:]).")
                }
            }
            do {
                let question = StormQuestion(port: port, token: token, topicID: topicID, cursor: cursor)
                let stream = try await question.open(carrier)
                counts.connections += 1
                try await follow(stream)
            } catch let broken as StormBreach {
                throw broken
            } catch {
                // The server is down, or was killed while it answered.
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        return counts
    }

    private var isDone: Bool {
        guard let goal = weather.goal else { return false }
        return seen.allSatisfy { goal[$0.key] == $0.value }
    }

    /// Follows one connection until it ends, or until this client drops it.
    private mutating func follow(_ stream: any StormStream) async throws {
        let quiet = ContinuousClock.now + .seconds(30)
        while !isDone {
            guard let event = try stream.look() else {
                guard quiet > .now || weather.goal == nil else { return }
                if weather.goal == nil, random.happens(oneIn: 400) { return }
                try await Task.sleep(for: .milliseconds(5))
                continue
            }
            switch event {
            case .ended(let how): return counts.failures[how, default: 0] += 1
            case .failed(let error): return try failed(error)
            case .message(let message, let cursor):
                try take(message, cursor)
                guard weather.goal == nil else { continue }
                if random.happens(oneIn: 250) { return }
                if random.happens(oneIn: 300) {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 100...2500, using: &random)))
                }
            }
        }
    }

    private mutating func take(_ message: JSONValue, _ cursor: String?) throws {
        guard let topic = message["topicId"]?.stringValue, let number = message["number"]?.intValue,
            let last = seen[topic], let cursor
        else {
            throw StormBreach("\(name) got what it did not ask for: \(message.serializedString()), \(cursor ?? "-")")
        }
        guard number == last + 1 else {
            let what = number > last ? "missed \(last + 1) to \(number - 1)" : "got \(number) after \(last)"
            throw StormBreach("\(name) \(what) in topic \(topic).")
        }
        seen[topic] = number
        self.cursor = cursor
        counts.messages += 1
    }

    /// An end with an error is one that may be resumed, and its cursor is where this client stands.
    private mutating func failed(_ error: JSONValue) throws {
        let code = error["extensions"]?["code"]?.stringValue ?? error["errorType"]?.stringValue ?? ""
        guard ["UNAVAILABLE", "LIMIT"].contains(code) else {
            throw StormBreach("\(name) was refused: \(error.serializedString())")
        }
        counts.failures[code, default: 0] += 1
        if let cursor = error["extensions"]?["cursor"]?.stringValue { self.cursor = cursor }
    }
}

/// What must never happen.
struct StormBreach: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
