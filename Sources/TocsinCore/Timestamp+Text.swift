extension Timestamp {
    /// Reads an `AWSDateTime`: `YYYY-MM-DDThh:mm[:ss[.fraction]]` and `Z` or
    /// an offset `±hh:mm[:ss]`.
    package init?(awsDateTime text: String) {
        var reader = DateTextReader(text)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2), reader.skip("T"), let hour = reader.number(2), reader.skip(":"),
            let minute = reader.number(2)
        else { return nil }
        var seconds: Int64 = 0
        var fraction: Int64 = 0
        if reader.skip(":") {
            guard let read = reader.number(2) else { return nil }
            seconds = read
            if reader.skip(".") { fraction = reader.fractionInMilliseconds() }
        }
        guard let offset = reader.offsetSeconds(), reader.isAtEnd else { return nil }
        let days = CivilDate.days(year: year, month: month, day: day)
        self.init(milliseconds: (((days * 24 + hour) * 60 + minute) * 60 + seconds - offset) * 1000 + fraction)
    }

    /// Reads an HTTP date in its usual form, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
    package init?(httpDate text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let day = Int64(parts[1]), let year = Int64(parts[3]),
            let month = Self.months.firstIndex(of: String(parts[2]))
        else { return nil }
        let time = parts[4].split(separator: ":").compactMap { Int64($0) }
        guard time.count == 3, time.allSatisfy({ (0...60).contains($0) }), (1...31).contains(day),
            (1970...9999).contains(year)
        else { return nil }
        let days = CivilDate.days(year: year, month: Int64(month) + 1, day: day)
        self.init(milliseconds: (((days * 24 + time[0]) * 60 + time[1]) * 60 + time[2]) * 1000)
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

/// Walks a date's text.
private struct DateTextReader {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = Substring(text).utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let first = rest.first, UInt32(first) == character.value else { return false }
        rest = rest.dropFirst()
        return true
    }

    mutating func number(_ digits: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    mutating func fractionInMilliseconds() -> Int64 {
        var value: Int64 = 0
        var weight: Int64 = 100
        while let digit = digit() {
            value += digit * weight
            weight /= 10
        }
        return value
    }

    /// `Z` or `±hh:mm[:ss]`.
    mutating func offsetSeconds() -> Int64? {
        if skip("Z") { return 0 }
        let sign: Int64
        if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
        guard let hours = number(2), skip(":"), let minutes = number(2) else { return nil }
        var seconds: Int64 = 0
        if skip(":") {
            guard let read = number(2) else { return nil }
            seconds = read
        }
        return sign * (hours * 3600 + minutes * 60 + seconds)
    }

    private mutating func digit() -> Int64? {
        guard let first = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return nil }
        rest = rest.dropFirst()
        return Int64(first - UInt8(ascii: "0"))
    }
}
