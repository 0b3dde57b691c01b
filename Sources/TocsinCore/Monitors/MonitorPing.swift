/// What one ping of a monitor says.
package struct MonitorPing: Sendable, Equatable {
    /// What it says.
    package enum Signal: String, Sendable, CaseIterable {
        /// The work is done.
        case success = "SUCCESS"
        /// The work begins.
        case start = "START"
        /// The work failed.
        case fail = "FAIL"
        /// Only something to keep.
        case log = "LOG"
    }

    /// Bytes of a text that are kept.
    package static let maximumTextBytes = 10_000
    /// Pings of one monitor that are kept.
    package static let keptOfMonitor: Int64 = 100

    /// What it says.
    package var signal: Signal
    /// The exit status, 0 to 255, where one was said.
    package var exitStatus: Int?
    /// Ties a start and an end: a UUID in small letters.
    package var runID: String?
    /// What came with it.
    package var text: String

    /// A ping; its text is cut to what is kept.
    package init(_ signal: Signal, exitStatus: Int? = nil, runID: String? = nil, text: String = "") {
        (self.signal, self.exitStatus, self.runID) = (signal, exitStatus, runID)
        let clean = text.contains("\0") ? text.filter { $0 != "\0" } : text
        self.text = clean.utf8.count <= Self.maximumTextBytes ? clean : Self.cut(clean)
    }

    /// The longest beginning that is kept, which ends between characters.
    private static func cut(_ text: String) -> String {
        var end = text.utf8.index(text.startIndex, offsetBy: maximumTextBytes)
        while end > text.startIndex, end.samePosition(in: text) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}

/// A ping as it is kept.
package struct StoredPing: Sendable, Equatable {
    /// Dense per monitor, from 1.
    package var number: Int64
    /// When it came.
    package var at: Timestamp
    /// What it said.
    package var ping: MonitorPing
    /// How long the work took that it ended.
    package var durationMilliseconds: Int64?

    /// A ping that ended nothing.
    package init(number: Int64, at moment: Timestamp, _ ping: MonitorPing, durationMilliseconds: Int64? = nil) {
        (self.number, at, self.ping, self.durationMilliseconds) = (number, moment, ping, durationMilliseconds)
    }
}
