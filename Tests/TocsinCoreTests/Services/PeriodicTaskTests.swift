import Metrics
import Synchronization
import Testing
import TocsinCore

@Suite("Periodic tasks")
struct PeriodicTaskTests {
    /// A time that moves when somebody sleeps, and ends the sleep that would be one too many.
    private final class SleepingTime: TimeSource {
        private let state: Mutex<(now: Timestamp, sleeps: Int)>

        init(sleeps: Int) { state = Mutex((Timestamp(milliseconds: 0), sleeps)) }

        func now() -> Timestamp { state.withLock { $0.now } }

        func sleep(until moment: Timestamp) async throws {
            try state.withLock { state in
                guard state.sleeps > 0 else { throw CancellationError() }
                state = (moment, state.sleeps - 1)
            }
        }
    }

    private final class Seen: Sendable {
        let begun = Mutex<[Int64]>([])
        let failures = Mutex(0)
    }

    @Test("a round is done at once and after each period; one that fails is told, and the next one comes as usual")
    func rounds() async {
        let (time, seen) = (SleepingTime(sleeps: 3), Seen())
        let task = PeriodicTask(.messages, everySeconds: 60, failure: "it could not be done") {
            () async throws(ServiceError) in
            let count = seen.begun.withLock { begun in
                begun.append(time.now().milliseconds)
                return begun.count
            }
            if count == 2 { throw .unavailable("no database") }
            return count == 3 ? nil : 10
        }
        let metrics = JobMetrics()
        await task.run(by: time, counting: metrics) { _ in seen.failures.withLock { $0 += 1 } }
        #expect(seen.begun.withLock { $0 } == [0, 60_000, 120_000, 180_000])
        #expect(seen.failures.withLock { $0 } == 1)
        let text = String(decoding: MetricFormat.text.write(metrics.families), as: UTF8.self)
        for line in [
            #"tocsin_jobs_total{task="messages",result="ok"} 2"#,
            #"tocsin_jobs_total{task="messages",result="failed"} 2"#,
            #"tocsin_job_last_success_timestamp_seconds{task="messages"} 180.0"#,
            #"tocsin_job_interval_seconds{task="messages"} 60.0"#,
            #"tocsin_rows_removed_total{table="messages"} 20"#, #"tocsin_jobs_total{task="timers",result="ok"} 0"#,
        ] {
            #expect(text.contains(line + "\n"), "\(line)")
        }
        // Another node's turn: its times count, and those of here are told no more.
        metrics.forget([.messages])
        let after = String(decoding: MetricFormat.text.write(metrics.families), as: UTF8.self)
        #expect(!after.contains("tocsin_job_last_success_timestamp_seconds{"), "\(after)")
        #expect(!after.contains("tocsin_job_interval_seconds{"), "\(after)")
        #expect(after.contains(#"tocsin_jobs_total{task="messages",result="ok"} 2"#))
    }

    @Test("a round that a stop cuts short is no failure: nothing is told or counted")
    func stopped() async {
        let (time, seen, metrics) = (SleepingTime(sleeps: 3), Seen(), JobMetrics())
        let task = PeriodicTask(.messages, everySeconds: 60, failure: "it could not be done") {
            () async throws(ServiceError) in
            withUnsafeCurrentTask { $0?.cancel() }
            throw .unavailable("the server is stopping")
        }
        // In a task of its own, which is cancelled in the midst of the round.
        await Task {
            await task.run(by: time, counting: metrics) { _ in seen.failures.withLock { $0 += 1 } }
        }.value
        #expect(seen.failures.withLock { $0 } == 0)
        let text = String(decoding: MetricFormat.text.write(metrics.families), as: UTF8.self)
        #expect(text.contains(#"tocsin_jobs_total{task="messages",result="failed"} 0"# + "\n"), "\(text)")
    }
}
