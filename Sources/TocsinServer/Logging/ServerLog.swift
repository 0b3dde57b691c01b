package import Logging
package import Metrics
import Synchronization
package import TocsinCore

/// Where lines go, and in which form.
package struct LogDestination: Sendable {
    let output: LogOutput
    let style: LogStyle

    /// A destination of these parts.
    package init(output: LogOutput, style: LogStyle) { (self.output, self.style) = (output, style) }

    /// The usual one: standard error.
    package static func standardError(_ settings: Settings, time: any TimeSource) -> LogDestination {
        let style = LogStyle.ofStandardError(settings)
        let output = LogOutput(descriptor: 2) { dropped in
            style.bytes(
                of: LogLine(
                    .warning,
                    "log lines were dropped, since nobody read the log",
                    ["event": "log_unread", "count": .stringConvertible(dropped)],
                    at: time.now()
                )
            )
        }
        return LogDestination(output: output, style: style)
    }

    /// Says in the log why the server does not start.
    ///
    /// On a terminal nothing is written: there the command says it as its last sentence.
    package func tellFailedStart(_ reason: String, by time: any TimeSource) {
        guard !style.isForPeople else { return }
        let metadata: Logger.Metadata = ["event": "start_failed", "reason": "\(reason)"]
        output.write(style.bytes(of: LogLine(.error, "the server does not start", metadata, at: time.now())))
    }

    /// Waits until all is written, at most for this time.
    package func flush(within time: Duration) { output.flush(within: time) }
}

/// The server's log: loggers for its parts, whose lines are folded, bounded and written.
///
/// What loggers are given must hold no secret and no text of a message.
package final class ServerLog: MetricSource {
    /// How much is logged.
    package let control: LogControl
    private let sink: LogSink
    private let time: any TimeSource
    private static let roundSeconds = 0.5

    /// A log that writes lines of this level and above.
    package init(_ level: Logger.Level, time: any TimeSource, to destination: LogDestination) {
        let sink = LogSink(destination, time: time)
        (self.sink, self.time) = (sink, time)
        control = LogControl(level, time: time) { sink.write($0) }
    }

    /// The logger of a part.
    package func logger(_ label: LogLabel) -> Logger {
        let (sink, control) = (sink, control)
        return Logger(label: label.rawValue) { _ in ServerLogHandler(label: label, sink: sink, control: control) }
    }

    /// How many lines were dropped because a second had too many.
    package var droppedLines: Int { sink.droppedLines }

    /// How many lines were written and dropped.
    package var families: [MetricFamily] {
        [
            MetricFamily(.counter, "tocsin_log_lines_total", "Lines of the log", sink.lineSamples),
            .counter("tocsin_log_dropped_total", "Lines of the log that a second had no room for", droppedLines),
        ]
    }

    /// Writes what was folded, and takes back levels that have had their time, until it is
    /// cancelled.
    package func run() async {
        while (try? await time.sleep(until: time.now().adding(seconds: Self.roundSeconds))) != nil {
            control.expire()
            sink.writeDue()
        }
    }

    /// Writes all that was folded.
    package func writeFolded() { sink.writeDue(all: true) }
}

/// Counts lines of one level.
private enum LevelLabel: String, MetricLabel {
    static let labelName = "level"
    case trace, debug, info, notice, warning, error, critical
}

/// What all loggers write to.
final class LogSink: Sendable {
    private let destination: LogDestination
    private let time: any TimeSource
    private let folding = Mutex(LineFolding())
    private let lines = CounterSet<LevelLabel>()

    init(_ destination: LogDestination, time: any TimeSource) {
        (self.destination, self.time) = (destination, time)
    }

    var droppedLines: Int { folding.withLock(\.dropped) }
    var lineSamples: [MetricSample] { lines.samples }

    func write(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) {
        write(LogLine(level, message, metadata, at: time.now()))
    }

    func write(_ news: LogControl.News) {
        switch news {
        case .changed(let level, let label, let seconds):
            var fields: Logger.Metadata = [
                "event": "log_level_changed", "new_level": "\(level)", "seconds": .stringConvertible(seconds),
            ]
            if let label { fields["only"] = "\(label.rawValue)" }
            write(.notice, "the log has another level for a while", fields)
        case .back(let level):
            write(
                .notice,
                "the log has its usual level again",
                ["event": "log_level_restored", "new_level": "\(level)"]
            )
        }
    }

    func writeDue(all: Bool = false) {
        let now = time.now()
        put(folding.withLock { $0.due(at: now, all: all) })
    }

    private func write(_ line: LogLine) { put(folding.withLock { $0.take(line) }) }

    private func put(_ lines: [LogLine]) {
        for line in lines {
            destination.output.write(destination.style.bytes(of: line))
            if let level = LevelLabel(rawValue: line.level.rawValue) { self.lines[level].add() }
        }
    }
}

/// Takes what loggers of one label write; never waits for the output.
private struct ServerLogHandler: LogHandler {
    let label: LogLabel
    let sink: LogSink
    let control: LogControl
    var metadata: Logger.Metadata = [:]
    /// A logger may have a level of its own.
    private var ownLevel: Logger.Level?

    init(label: LogLabel, sink: LogSink, control: LogControl) {
        (self.label, self.sink, self.control) = (label, sink, control)
    }

    var logLevel: Logger.Level {
        get { ownLevel ?? control.level(of: label) }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let given = event.metadata ?? [:]
        sink.write(
            event.level,
            event.message.description,
            metadata.isEmpty ? given : metadata.merging(given) { $1 }
        )
    }
}
