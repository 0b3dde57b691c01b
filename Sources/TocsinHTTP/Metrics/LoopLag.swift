package import Metrics
import Synchronization

/// How late event loops do what is due.
package final class LoopLag: MetricSource {
    private struct Slot {
        var labels: String
        var pulses: [LoopPulse]
    }

    private let slots = Mutex<[Slot]>([])
    /// Loops beyond these share their names.
    private static let mostOfKind = 7

    /// Of no loop yet.
    package init() {}

    /// Adds the pulses of loops, as `http-0`, `http-1` and so on.
    package func add(_ pulses: [LoopPulse], as kind: String) {
        let names = min(pulses.count, Self.mostOfKind)
        let own = (0..<names).map { name in
            let shared = stride(from: name, to: pulses.count, by: Self.mostOfKind).map { pulses[$0] }
            return Slot(labels: metricLabel("loop", "\(kind)-\(name)"), pulses: shared)
        }
        slots.withLock { $0 += own }
    }

    /// The largest lag of each loop since the last scrape.
    package var families: [MetricFamily] {
        let samples = slots.withLock(\.self).map { slot in
            MetricSample(labels: slot.labels, .number(slot.pulses.map { $0.takeLag() }.max() ?? 0))
        }
        return [
            MetricFamily(
                .gauge,
                "tocsin_loop_lag_seconds",
                "Largest delay of what was due on an event loop since the last scrape",
                samples
            )
        ]
    }
}
