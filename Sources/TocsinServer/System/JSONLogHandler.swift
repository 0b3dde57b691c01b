import JSON
package import Logging
package import TocsinCore

/// One JSON line an event.
///
/// What it is given must hold no secret and no text of a message; client-given
/// text is escaped by JSON.
package struct JSONLogHandler: LogHandler {
    /// Members that every line has.
    package var metadata: Logger.Metadata = [:]
    /// Lines below this level are not written.
    package var logLevel: Logger.Level {
        get { threshold.level }
        set { threshold = LogThreshold(newValue) }
    }
    private var threshold: LogThreshold
    private let time: any TimeSource
    private let output: LogOutput

    /// Writes lines of the threshold's level and above.
    package init(threshold: LogThreshold, time: any TimeSource, output: LogOutput) {
        self.threshold = threshold
        self.time = time
        self.output = output
    }

    /// The usual destination of the log: standard error.
    package static func standardError(time: any TimeSource) -> LogOutput {
        LogOutput(descriptor: 2) { dropped in
            line(
                .warning,
                "log lines were dropped, since nobody read the log",
                ["count": "\(dropped)"],
                at: time.now()
            )
        }
    }

    /// One of the members that every line has.
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes one line; never waits for the output.
    package func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        output.write(Self.line(event.level, event.message.description, all, at: time.now()))
    }

    private static func line(
        _ level: Logger.Level,
        _ message: String,
        _ metadata: Logger.Metadata,
        at moment: Timestamp
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.raw("{\"time\":")
        writer.string(moment.iso8601)
        writer.raw(",\"level\":")
        writer.string(level.rawValue)
        writer.raw(",\"message\":")
        writer.string(message)
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            writer.byte(UInt8(ascii: ","))
            writer.string(key)
            writer.byte(UInt8(ascii: ":"))
            writer.string(value.description)
        }
        writer.raw("}\n")
        return writer.bytes
    }
}
