import Glibc
import JSON
package import Logging
package import TocsinCore

/// One JSON line an event on standard error (ops-promises section 8).
///
/// What it is given must hold no secret and no text of a message; client-given text is escaped by JSON.
package struct JSONLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level
    private let time: any TimeSource

    package init(level: Logger.Level, time: any TimeSource) {
        logLevel = level
        self.time = time
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var writer = JSONWriter(capacity: 256)
        writer.raw("{\"time\":")
        writer.string(time.now().iso8601)
        writer.raw(",\"level\":")
        writer.string(event.level.rawValue)
        writer.raw(",\"message\":")
        writer.string(event.message.description)
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        for (key, value) in all.sorted(by: { $0.key < $1.key }) {
            writer.byte(UInt8(ascii: ","))
            writer.string(key)
            writer.byte(UInt8(ascii: ":"))
            writer.string(value.description)
        }
        writer.raw("}\n")
        // One write for one line, so that lines of several threads never mix.
        _ = writer.bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
