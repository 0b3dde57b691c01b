package import Logging
package import TocsinCore

/// What a line of the log is about: lines of one label can be told more of than the others.
package enum LogLabel: String, Sendable, CaseIterable {
    /// Start, stop, settings.
    case server
    /// Requests and sockets.
    case http
    /// Failures of operations.
    case api
    /// Who comes in.
    case signIn = "sign-in"
    /// The database.
    case store
    /// Pushes to phones and browsers.
    case push
    /// Calls of webhooks.
    case webhooks
    /// Other nodes on the same database.
    case nodes
    /// Upkeep and what comes at a time.
    case jobs
}

/// One line of the log, before it has a form.
package struct LogLine: Sendable {
    /// The value of a field: what was a number stays one.
    package enum Value: Sendable, Hashable {
        /// Words.
        case text(String)
        /// A whole number.
        case int(Int64)
        /// Any number.
        case double(Double)
        /// Yes or no.
        case bool(Bool)
    }

    /// When it was written.
    package var moment: Timestamp
    /// How much it matters.
    package var level: Logger.Level
    /// What has happened, in a word that stays the same over releases (docs/logs.md).
    package var event: String
    /// The same as a sentence.
    package var message: String
    /// What else is known, by keys in the order of the alphabet.
    package var fields: [(key: String, value: Value)]

    /// Longer texts are cut: most are another program's words.
    private static let maximumBytes = 4096

    /// The line of what a logger was given; its event stands among the metadata.
    package init(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata, at moment: Timestamp) {
        (self.level, self.message, self.moment) = (level, message, moment)
        event = "unnamed"
        fields = []
        fields.reserveCapacity(metadata.count)
        for (key, value) in metadata {
            if key == "event" { event = value.description } else { fields.append((key, Value(value))) }
        }
        fields.sort { $0.key < $1.key }
    }

    /// The field of this name.
    package subscript(key: String) -> Value? { fields.first { $0.key == key }?.value }

    /// The same, which stands for so many.
    func counting(_ count: Int) -> LogLine {
        guard count > 1 else { return self }
        var line = self
        line.fields.removeAll { $0.key == "count" }
        line.fields.append(("count", .int(Int64(count))))
        line.fields.sort { $0.key < $1.key }
        return line
    }

    fileprivate static func cut(_ text: String) -> String {
        text.utf8.count <= maximumBytes ? text : String(decoding: text.utf8.prefix(maximumBytes), as: UTF8.self)
    }
}

extension LogLine.Value {
    /// A value of metadata; numbers come as what converts itself to text.
    init(_ value: Logger.MetadataValue) {
        switch value {
        case .string(let text): self = .text(LogLine.cut(text))
        case .stringConvertible(let number as Int): self = .int(Int64(number))
        case .stringConvertible(let number as Int64): self = .int(number)
        case .stringConvertible(let number as Double): self = .double(number)
        case .stringConvertible(let flag as Bool): self = .bool(flag)
        default: self = .text(LogLine.cut(value.description))
        }
    }
}
