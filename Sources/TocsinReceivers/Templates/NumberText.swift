import JSON

/// Numbers as people read them.
enum NumberText {
    /// The number that a text is.
    static func number(_ text: String) -> JSONValue? {
        if let whole = Int64(text) { return .int(whole) }
        guard let number = Double(text), number.isFinite else { return nil }
        return .double(number)
    }

    /// To so many digits behind the point; whole numbers have none.
    static func rounded(_ number: Double, _ digits: Int) -> JSONValue {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let result = (number * scale).rounded() / scale
        return Int64(exactly: result).map { .int($0) } ?? .double(result)
    }

    /// `1.5 GB`, in steps of 1000.
    static func bytes(_ count: Double) -> String {
        let units = ["B", "kB", "MB", "GB", "TB", "PB"]
        var (rest, unit) = (count, 0)
        while abs(rest) >= 1000, unit + 1 < units.count { (rest, unit) = (rest / 1000, unit + 1) }
        return "\(rounded(rest, 1).plainText) \(units[unit])"
    }

    /// `2 h 5 min`: the two largest units of a number of seconds below 1e15.
    static func duration(_ seconds: Double) -> String {
        var rest = Int64(abs(seconds).rounded())
        guard rest > 0 else { return "0 s" }
        var parts: [String] = []
        for (unit, length) in [("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)] as [(String, Int64)] {
            if rest >= length { parts.append("\(rest / length) \(unit)") }
            rest %= length
        }
        return (seconds < 0 ? "-" : "") + parts.prefix(2).joined(separator: " ")
    }
}
