import Logging
import Synchronization
package import TocsinCore

/// Writes our own failures to the log under an id that the client is told.
///
/// While a database is away every request fails alike. So a failure with the words of one within
/// the last second shares that one's line and id.
package final class FailureReport: Sendable {
    private struct Line {
        let id: String
        let moment: Timestamp
    }

    private let identifiers: any IdentifierSource
    private let time: any TimeSource
    private let write: @Sendable (_ id: String, _ text: String) -> Void
    private let lines = Mutex<[String: Line]>([:])
    private static let mostLines = 64
    private static let sharedMilliseconds: Int64 = 1000

    /// A report that hands lines to `write`, each with its id.
    package init(
        identifiers: any IdentifierSource,
        time: any TimeSource,
        write: @escaping @Sendable (_ id: String, _ text: String) -> Void
    ) {
        (self.identifiers, self.time, self.write) = (identifiers, time, write)
    }

    convenience init(logger: Logger, identifiers: any IdentifierSource, time: any TimeSource) {
        self.init(identifiers: identifiers, time: time) { id, text in
            var fields: Logger.Metadata = ["event": "internal_failure", "failure_id": "\(id)", "reason": "\(text)"]
            if let request = RequestOrigin.current?.requestID { fields["request_id"] = "\(request)" }
            logger.error("internal failure", metadata: fields)
        }
    }

    /// Writes a failure to the log, unless the same one was just written, and answers its id.
    @Sendable
    package func callAsFunction(_ text: String) -> String {
        let moment = time.now()
        let (id, isNew) = lines.withLock { lines in
            if let line = lines[text], Self.isFresh(line, at: moment) { return (line.id, false) }
            // Only what was told within the second matters.
            if lines.count >= Self.mostLines { lines = lines.filter { Self.isFresh($0.value, at: moment) } }
            let id = identifiers.makeID()
            if lines.count < Self.mostLines { lines[text] = Line(id: id, moment: moment) }
            return (id, true)
        }
        if isNew { write(id, text) }
        return id
    }

    /// Also false when the clock was set back.
    private static func isFresh(_ line: Line, at moment: Timestamp) -> Bool {
        (0..<sharedMilliseconds).contains(moment.milliseconds - line.moment.milliseconds)
    }
}
