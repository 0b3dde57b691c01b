import Foundation
import Synchronization

/// One load on a server's nodes: what the clients saw, and the CPU of each who took part.
struct LoadMeasurement: Sendable {
    var name: String
    var outcome: ClientLoad.Outcome
    /// CPU seconds by part, in the order in which they are printed.
    var cpu: [(part: String, seconds: Double)]

    var perSecond: Double { Double(outcome.count) / outcome.seconds }

    /// Runs the load; `parts` are whose CPU is told apart, each with what it has used so far.
    static func run(
        _ name: String,
        _ load: ClientLoad,
        parts: [(part: String, used: @Sendable () -> Double)]
    ) async throws -> LoadMeasurement {
        let looks = Mutex<[[Double]]>([])
        let outcome = try await load.run {
            let look = parts.map { $0.used() }
            looks.withLock { $0.append(look) }
        }
        let (first, last) = looks.withLock { ($0.first ?? [], $0.last ?? []) }
        var cpu = zip(parts, zip(first, last)).map { ($0.part, $1.1 - $1.0) }
        cpu.append(("load generator", outcome.cpuSeconds))
        return LoadMeasurement(name: name, outcome: outcome, cpu: cpu)
    }

    /// One line; with a floor, the ratio to its rate.
    func printed(floor: Figures? = nil) -> String {
        var line = name.padding(toLength: 48, withPad: " ", startingAt: 0)
        line += String(format: "%7.0f/s  p50 %6.2f ms  p99 %6.2f ms  CPU each", perSecond, p50, p99)
        for (part, seconds) in cpu {
            line += String(format: " %@ %.1f µs,", part, seconds * 1e6 / Double(max(1, outcome.count)))
        }
        line.removeLast()
        if let floor { line += String(format: "; %.2f of the floor's rate", perSecond / floor.perSecond) }
        return line
    }

    private var p50: Double { outcome.milliseconds(0.5) }
    private var p99: Double { outcome.milliseconds(0.99) }
}
