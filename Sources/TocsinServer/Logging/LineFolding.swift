import Logging
package import TocsinCore

/// Folds lines that say the same again and again, and bounds how many are written in a second.
///
/// Of warnings and errors with one event and reason, the first is written at once. Those that
/// follow within a second are counted. When it is over, the last of them is written with the
/// count. Notices may have figures that must not be lost. Lines that name a request are as many as
/// requests, and whoever writes them has thought of that.
package struct LineFolding: Sendable {
    private struct Key: Hashable {
        var event: String
        var values: [LogLine.Value?]
    }

    private struct Entry {
        /// When the next line may be written, in Unix milliseconds.
        var due: Int64
        /// How many lines were not written, and the last of them.
        var count = 0
        var last: LogLine?
    }

    /// What makes two lines of one event different things to be told.
    private static let keys = ["app", "provider", "reason", "webhook"]
    /// Beyond so many at a time, all lines of an event are folded.
    private static let maximumKeys = 256
    private static let secondMilliseconds: Int64 = 1000
    /// Lines in a second.
    private static let maximumLines = 2000
    /// How many of them may be of level info and below.
    private static let maximumDetails = 1800

    private var entries: [Key: Entry] = [:]
    private var second: (begins: Int64, lines: Int, dropped: Int) = (0, 0, 0)
    /// How many lines were dropped since the start.
    package private(set) var dropped = 0

    /// Nothing is folded yet.
    package init() {}

    /// Takes a line; answers the lines that are to be written now.
    package mutating func take(_ line: LogLine) -> [LogLine] {
        var lines = begunSecond(at: line.moment)
        guard line.level >= .warning, line["request_id"] == nil else {
            admit(line, &lines)
            return lines
        }
        let now = line.moment.milliseconds
        let key = key(of: line)
        if var entry = entries[key], (entry.due - Self.secondMilliseconds..<entry.due).contains(now) {
            entry.count += 1
            entry.last = line
            entries[key] = entry
            return lines
        }
        let count = entries[key]?.count ?? 0
        entries[key] = Entry(due: now + Self.secondMilliseconds)
        admit(line.counting(count + 1), &lines)
        return lines
    }

    /// What was counted and is due, or all of it; what is not heard of any more is forgotten.
    package mutating func due(at moment: Timestamp, all: Bool = false) -> [LogLine] {
        var lines = begunSecond(at: moment)
        let now = moment.milliseconds
        for (key, entry) in entries where all || !(entry.due - Self.secondMilliseconds..<entry.due).contains(now) {
            guard let last = entry.last else {
                entries[key] = nil
                continue
            }
            entries[key] = Entry(due: now + Self.secondMilliseconds)
            admit(last.counting(entry.count), &lines)
        }
        if all { lines += lossLine(at: moment) }
        return lines
    }

    private func key(of line: LogLine) -> Key {
        let key = Key(event: line.event, values: Self.keys.map { line[$0] })
        return entries[key] != nil || entries.count < Self.maximumKeys ? key : Key(event: line.event, values: [])
    }

    /// Begins a new second where the last one is over, also when the clock was set back; tells
    /// what was dropped in the last one.
    private mutating func begunSecond(at moment: Timestamp) -> [LogLine] {
        let now = moment.milliseconds
        guard !(second.begins..<second.begins + Self.secondMilliseconds).contains(now) else { return [] }
        let lines = lossLine(at: moment)
        second = (now, lines.count, 0)
        return lines
    }

    private mutating func lossLine(at moment: Timestamp) -> [LogLine] {
        guard second.dropped > 0 else { return [] }
        let fields: Logger.Metadata = ["event": "log_dropped", "count": .stringConvertible(second.dropped)]
        second.dropped = 0
        return [
            LogLine(.warning, "lines were dropped: there were more than a second may have", fields, at: moment)
        ]
    }

    private mutating func admit(_ line: LogLine, _ lines: inout [LogLine]) {
        guard second.lines < (line.level >= .notice ? Self.maximumLines : Self.maximumDetails) else {
            second.dropped += 1
            dropped += 1
            return
        }
        second.lines += 1
        lines.append(line)
    }
}
