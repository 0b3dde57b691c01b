package import JSON
package import TocsinCore

/// Times as senders write them.
package enum SenderTime {
    private static let years = 0...253_402_300_799_999 as ClosedRange<Int64>

    /// A text with date and time, or seconds or milliseconds since 1970; nil: it is none, or before
    /// 1970, as Go's empty time is.
    package static func read(_ value: JSONValue?) -> Timestamp? {
        guard let value else { return nil }
        if let number = value.doubleValue { return read(number: number) }
        return value.stringValue.flatMap { read(text: $0) }
    }

    /// RFC 3339, with a space for its `T` too; without a zone it is UTC.
    package static func read(text: String) -> Timestamp? {
        var text = text.trimmed
        guard text.utf8.count <= 64 else { return nil }
        if let number = Double(text) { return read(number: number) }
        if let space = text.firstIndex(of: " "), text.distance(from: text.startIndex, to: space) == 10 {
            text.replaceSubrange(space...space, with: "T")
        }
        let moment = Timestamp(awsDateTime: text.uppercased()) ?? Timestamp(awsDateTime: text.uppercased() + "Z")
        return moment.flatMap { years.contains($0.milliseconds) ? $0 : nil }
    }

    private static func read(number: Double) -> Timestamp? {
        // As seconds such a number is the year 5138: it is milliseconds.
        let milliseconds = (abs(number) < 1e11 ? number * 1000 : number).rounded()
        guard let exact = Int64(exactly: milliseconds), years.contains(exact), exact > 0 else { return nil }
        return Timestamp(milliseconds: exact)
    }
}
