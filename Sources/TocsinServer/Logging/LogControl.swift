package import Logging
import Synchronization
package import TocsinCore

/// How much is logged, which may change while the server runs; a change goes back by itself.
///
/// The levels of all labels are one word, so that whoever writes a line waits for nobody.
package final class LogControl: Sendable {
    /// What became of the level.
    package enum News: Sendable, Hashable {
        /// It is another one for a while, of all labels or only one.
        case changed(Logger.Level, only: LogLabel?, seconds: Int64)
        /// All is as the settings say.
        case back(Logger.Level)
    }

    private struct State {
        var usual: Logger.Level
        /// What is different for a while, and until when.
        var changes: [LogLabel: (level: Logger.Level, until: Timestamp)] = [:]

        func level(of label: LogLabel) -> Logger.Level { changes[label]?.level ?? usual }
    }

    /// How long a change lasts where nobody says.
    package static let usualTime = Duration.seconds(600)
    /// How long a change may last.
    package static let longestTime = Duration.seconds(86_400)

    private let state: Mutex<State>
    private let levels: Atomic<UInt64>
    private let time: any TimeSource
    private let report: @Sendable (News) -> Void

    /// A control of this usual level; changes are told to `report`.
    package init(
        _ level: Logger.Level,
        time: any TimeSource,
        report: @escaping @Sendable (News) -> Void = { _ in }
    ) {
        (self.time, self.report) = (time, report)
        state = Mutex(State(usual: level))
        levels = Atomic(Self.word(State(usual: level)))
    }

    /// Lines of this level and above are written.
    package func level(of label: LogLabel) -> Logger.Level {
        let index = levels.load(ordering: .relaxed) >> Self.shift(label) & 0xF
        return Logger.Level.allCases[Int(index)]
    }

    /// Sets another level for a while, of all labels or only one; a change of before ends with it.
    ///
    /// The time is at most `longestTime`.
    package func setLevel(_ level: Logger.Level, for duration: Duration = usualTime, only label: LogLabel? = nil) {
        let seconds = max(1, min(duration, Self.longestTime).components.seconds)
        let until = time.now().adding(seconds: Double(seconds))
        change { state in
            for label in label.map({ [$0] }) ?? LogLabel.allCases { state.changes[label] = (level, until) }
        }
        report(.changed(level, only: label, seconds: seconds))
    }

    /// Sets what the settings say from now on; changes for a while stay until their time.
    package func setUsual(_ level: Logger.Level) { change { $0.usual = level } }

    /// Tells one step more than now, for a while (SIGUSR1).
    package func raise() {
        let all = Logger.Level.allCases
        let present = level(of: .server)
        setLevel(all.firstIndex(of: present).flatMap { $0 > 0 ? all[$0 - 1] : nil } ?? present)
    }

    /// All is as the settings say again (SIGUSR2).
    package func reset() {
        change { $0.changes = [:] }
        report(.back(state.withLock(\.usual)))
    }

    /// Takes back what has had its time.
    package func expire() {
        let now = time.now()
        let (isBack, usual) = state.withLock { state in
            let before = state.changes.count
            state.changes = state.changes.filter { $0.value.until > now }
            levels.store(Self.word(state), ordering: .relaxed)
            return (before > 0 && state.changes.isEmpty, state.usual)
        }
        if isBack { report(.back(usual)) }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            levels.store(Self.word(state), ordering: .relaxed)
        }
    }

    private static func word(_ state: State) -> UInt64 {
        LogLabel.allCases.reduce(0) { word, label in
            let index = Logger.Level.allCases.firstIndex(of: state.level(of: label)) ?? 0
            return word | UInt64(index) << shift(label)
        }
    }

    private static func shift(_ label: LogLabel) -> UInt64 {
        4 * UInt64(LogLabel.allCases.firstIndex(of: label) ?? 0)
    }
}

/// What is wrong with an order for another level, and what to write.
package struct LogOrderProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence.
    package let description: String
}

extension LogControl {
    /// The same by words, as an operator writes them: `debug`, `10m`, `push`.
    package func setLevel(named level: String, for time: String?, only label: String?) throws(LogOrderProblem) {
        guard let known = Logger.Level(rawValue: level.lowercased()) else {
            let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw LogOrderProblem(description: "\"\(level.prefix(64))\" is no level. Write one of \(names).")
        }
        let part = label.flatMap { LogLabel(rawValue: $0.lowercased()) }
        if let label, part == nil {
            let names = LogLabel.allCases.map(\.rawValue).joined(separator: ", ")
            throw LogOrderProblem(description: "\"\(label.prefix(64))\" is no part of the log. Write one of \(names).")
        }
        setLevel(known, for: try Self.duration(time), only: part)
    }

    private static func duration(_ text: String?) throws(LogOrderProblem) -> Duration {
        guard let text else { return usualTime }
        let longest = Double(longestTime.components.seconds)
        guard let seconds = TimeLength.seconds(text), (1...longest).contains(seconds) else {
            throw LogOrderProblem(
                description: "\"\(text.prefix(64))\" is no time. Write a number with s, m or h, such as 10m, up to 24h."
            )
        }
        return .seconds(seconds)
    }
}
