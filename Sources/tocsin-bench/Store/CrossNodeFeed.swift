import Foundation
import JSON

/// How long a message takes from a publisher on one node to a subscriber's socket on another.
struct CrossNodeFeed {
    let publisher: ServerProcess
    let subscriber: ServerProcess
    let topic: JSONValue
    private static let warmUpRounds = 20

    /// What the publisher and the subscriber saw, in milliseconds.
    struct Outcome {
        /// From sending the request to its answer, rising.
        var answers: [Int64]
        /// From sending the request to the frame.
        var seen: ReaderProcess.Seen

        func printed(_ name: String) -> String {
            func milliseconds(_ part: Double) -> Double { Double(Percentile.of(answers, part)) / 1e6 }
            return name.padding(toLength: 48, withPad: " ", startingAt: 0)
                + String(
                    format:
                        "%7d messages  to the socket p50 %6.2f ms  p99 %6.2f ms; answered p50 %6.2f ms  p99 %6.2f ms",
                    answers.count,
                    seen.p50,
                    seen.p99,
                    milliseconds(0.5),
                    milliseconds(0.99)
                )
        }
    }

    /// One message after the other: each is sent when the one before was answered and
    /// has come to the subscriber.
    func run(seconds: Double) throws -> Outcome {
        var order = ReaderOrder(.graphql, port: subscriber.port, count: 1)
        (order.token, order.topics) = (subscriber.token, [topic.stringValue ?? ""])
        let readers = try ReaderProcess(order)
        defer { readers.stop() }
        try awaitSubscription()
        let connection = try LoadConnection(port: publisher.port)
        defer { connection.close() }
        var answers: [Int64] = []
        var rounds = 0
        var end = Int64.max
        while Monotonic.nanoseconds() < end {
            if rounds == Self.warmUpRounds {
                _ = try readers.report()
                answers = []
                end = Monotonic.nanoseconds() + Int64(seconds * 1e9)
            }
            answers.append(try publish(connection))
            rounds += 1
            try readers.wait(until: rounds)
        }
        return Outcome(answers: answers.sorted(), seen: try readers.report())
    }

    /// Before it listens a subscription asks the database, while its socket answers pings: what
    /// came then would be missed.
    private func awaitSubscription() throws {
        let query = "query($id: ID!) { getTopic(id: $id) { watchers } }"
        while try subscriber.run(query, ["id": topic])["getTopic"]?["watchers"]?.intValue == 0 {
            usleep(10_000)
        }
    }

    /// Answers how long the answer took, in nanoseconds.
    private func publish(_ connection: LoadConnection) throws -> Int64 {
        let sent = Monotonic.nanoseconds()
        _ = try connection.exchange(publisher.message("t=\(sent)", to: topic))
        return Monotonic.nanoseconds() - sent
    }
}
