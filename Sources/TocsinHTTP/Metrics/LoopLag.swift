package import Metrics
package import NIOCore
import Synchronization

/// How late event loops do what is due: each is asked four times a second.
package final class LoopLag: MetricSource {
    /// What one loop was found to be.
    private final class Slot: Sendable {
        let labels: String
        let largest = Atomic<Int64>(0)
        /// When the next look is due, on the clock of `NIODeadline`.
        let due = Atomic<UInt64>(.max)

        init(_ name: String) { labels = metricLabel("loop", name) }

        /// The largest lag since the last call, in seconds; that of now counts too.
        func take() -> Double {
            let due = due.load(ordering: .relaxed)
            let now = NIODeadline.now().uptimeNanoseconds
            let present = now > due ? Int64(clamping: now - due) : 0
            return Double(max(present, largest.exchange(0, ordering: .relaxed))) / 1e9
        }
    }

    private let slots = Mutex<[Slot]>([])
    private static let pause = TimeAmount.milliseconds(250)
    /// Loops beyond these are watched and share their names.
    private static let mostOfKind = 7

    /// Watches no loop yet.
    package init() {}

    /// Watches these loops until they end, as `http-0`, `http-1` and so on.
    package func watch(_ loops: some Sequence<any EventLoop>, as kind: String) {
        let loops = Array(loops)
        let own = (0..<min(loops.count, Self.mostOfKind)).map { Slot("\(kind)-\($0)") }
        slots.withLock { $0 += own }
        for (index, loop) in loops.enumerated() { Self.look(loop, own[index % own.count]) }
    }

    /// The largest lag of each loop since the last scrape.
    package var families: [MetricFamily] {
        let samples = slots.withLock(\.self).map { MetricSample(labels: $0.labels, .number($0.take())) }
        return [
            MetricFamily(
                .gauge,
                "tocsin_loop_lag_seconds",
                "Largest delay of what was due on an event loop since the last scrape",
                samples
            )
        ]
    }

    private static func look(_ loop: any EventLoop, _ slot: Slot) {
        let due = NIODeadline.now() + pause
        slot.due.store(due.uptimeNanoseconds, ordering: .relaxed)
        loop.scheduleTask(deadline: due) {
            let lag = (NIODeadline.now() - due).nanoseconds
            _ = slot.largest.max(lag, ordering: .relaxed)
            look(loop, slot)
        }
    }
}
