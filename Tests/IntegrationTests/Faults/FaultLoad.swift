import Foundation
import Synchronization
import TocsinClient

/// What a publisher was told of a message it sent.
enum FaultOutcome: Sendable {
    /// It is stored, as this number.
    case answered(Int64)
    /// It is not stored.
    case refused(String)
    /// The answer says that nobody knows, or there was none.
    case unknown(String)
}

/// Publishers that send messages one after the other, each message once, and write
/// down what became of each.
final class FaultLoad: Sendable {
    struct Sent: Sendable {
        let draft: MessageDraft
        let outcome: FaultOutcome
    }

    private struct State {
        var sent: [Sent] = []
        var isStopping = false
    }

    private final class Record: Sendable {
        let state = Mutex(State())
    }

    private let record = Record()
    private let tasks: [Task<Void, Never>]
    private static let pause = Duration.milliseconds(15)

    /// Publishes through each client in a task of its own.
    init(_ clients: [TocsinClient], topicID: String) {
        let record = record
        tasks = clients.enumerated().map { number, client in
            Task {
                var count = 0
                while !record.state.withLock({ $0.isStopping }) {
                    count += 1
                    var draft = MessageDraft(title: "\(number).\(count)", body: "body of \(number).\(count) ÄÖ")
                    draft.id = UUID().uuidString.lowercased()
                    let sent = Sent(draft: draft, outcome: await Self.outcome(of: draft, client, topicID))
                    record.state.withLock { $0.sent.append(sent) }
                    // What failed is repeated in the end, one by one.
                    let isAnswered = if case .answered = sent.outcome { true } else { false }
                    try? await Task.sleep(for: isAnswered ? Self.pause : Self.pause * 10)
                }
            }
        }
    }

    private static func outcome(of draft: MessageDraft, _ client: TocsinClient, _ topicID: String) async -> FaultOutcome
    {
        do throws(ClientError) {
            return .answered(try await client.publish(topic: .id(topicID), draft).number)
        } catch {
            let isUnknown = error.message.contains("outcome is unknown") || error.code != .unavailable
            return isUnknown ? .unknown(error.description) : .refused(error.description)
        }
    }

    var sent: [Sent] { record.state.withLock { $0.sent } }

    var answeredCount: Int {
        sent.count { if case .answered = $0.outcome { true } else { false } }
    }

    /// The highest number that was answered.
    var lastNumber: Int64 {
        sent.reduce(0) { if case .answered(let number) = $1.outcome { max($0, number) } else { $0 } }
    }

    /// What was told instead of an answer, and how often.
    var failures: [String: Int] {
        var counts: [String: Int] = [:]
        for message in sent {
            switch message.outcome {
            case .answered: break
            case .refused(let words): counts["refused, \(Self.kind(words))", default: 0] += 1
            case .unknown(let words): counts["unknown, \(Self.kind(words))", default: 0] += 1
            }
        }
        return counts
    }

    /// The words without what differs each time.
    private static func kind(_ words: String) -> Substring { words.prefix(words.contains("log has it") ? 50 : 200) }

    var refusedCount: Int {
        sent.count { if case .refused = $0.outcome { true } else { false } }
    }

    var unknownCount: Int { sent.count - answeredCount - refusedCount }

    /// Lets what is under way end; gives all outcomes.
    func stop() async -> [Sent] {
        record.state.withLock { $0.isStopping = true }
        for task in tasks { await task.value }
        return sent
    }
}
