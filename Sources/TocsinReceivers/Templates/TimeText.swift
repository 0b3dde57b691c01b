import JSON
import TocsinCore

/// Times as senders write them.
enum TimeText {
    /// The moment that a value says; nil: none.
    static func moment(_ value: JSONValue, _ form: TemplateFilter.TimeForm) -> Timestamp? {
        if let number = value.doubleValue { return moment(number, form) }
        guard case .string(let text) = value, text.utf8.count <= 64 else { return nil }
        if let number = Double(text) { return moment(number, form) }
        if let time = Timestamp(httpDate: text) { return time }
        guard case .zone(let zone) = form else { return written(text, .utc) }
        return written(text, zone)
    }

    private static func moment(_ number: Double, _ form: TemplateFilter.TimeForm) -> Timestamp? {
        let isMilliseconds: Bool
        switch form {
        case .seconds: isMilliseconds = false
        case .milliseconds: isMilliseconds = true
        // In seconds, this would be the year 5138.
        case .zone: isMilliseconds = abs(number) >= 1e11
        }
        let milliseconds = isMilliseconds ? number : number * 1000
        guard (0...253_402_300_799_000).contains(milliseconds) else { return nil }
        return Timestamp(milliseconds: Int64(milliseconds))
    }

    /// `2026-11-28 03:04[:05[.678]]`, with `T` or a space, and a zone `Z`, `UTC`, `+0200` or
    /// `+02:00`, or none.
    private static func written(_ text: String, _ zone: ZoneRules) -> Timestamp? {
        var reader = Reader(rest: text[...])
        guard let year = reader.number(4), reader.skip("-") || reader.skip("."), let month = reader.number(2),
            reader.skip("-") || reader.skip("."), let day = reader.number(2), (1...12).contains(month),
            (1...CivilDate.length(ofMonth: month, inYear: year)).contains(day)
        else { return nil }
        var wall = CivilDate.days(year: year, month: month, day: day) * 86_400
        var milliseconds: Int64 = 0
        if reader.skip("T") || reader.skip("t") || reader.skip(" ") {
            guard let hour = reader.number(2), reader.skip(":"), let minute = reader.number(2), hour < 24, minute < 60
            else { return nil }
            wall += hour * 3600 + minute * 60
            if reader.skip(":") {
                guard let second = reader.number(2), second <= 60 else { return nil }
                wall += second
                if reader.skip(".") || reader.skip(",") { milliseconds = reader.milliseconds() }
            }
        }
        while reader.skip(" ") {}
        guard let offset = reader.offset() else {
            guard reader.rest.isEmpty else { return nil }
            return moment(of: wall, in: zone).map { Timestamp(milliseconds: $0 * 1000 + milliseconds) }
        }
        return reader.rest.isEmpty ? Timestamp(milliseconds: (wall - offset) * 1000 + milliseconds) : nil
    }

    private static func moment(of wall: Int64, in zone: ZoneRules) -> Int64? {
        switch zone.moments(ofWall: wall) {
        case .one(let moment): moment
        case .two(let first, _): first
        case .skipped(let moment): moment
        }
    }

    private struct Reader {
        var rest: Substring

        mutating func skip(_ text: String) -> Bool {
            guard rest.hasPrefix(text) else { return false }
            rest = rest.dropFirst(text.count)
            return true
        }

        mutating func number(_ digits: Int) -> Int64? {
            let text = rest.prefix(digits)
            guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = rest.dropFirst(digits)
            return Int64(text)
        }

        mutating func milliseconds() -> Int64 {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            return Int64((digits + "000").prefix(3)) ?? 0
        }

        /// Seconds east of UTC; nil: none is written.
        mutating func offset() -> Int64? {
            if skip("Z") || skip("z") || skip("UTC") || skip("GMT") { return 0 }
            let sign: Int64
            if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
            guard let hours = number(2) else { return nil }
            _ = skip(":")
            return sign * (hours * 3600 + (number(2) ?? 0) * 60)
        }
    }
}
