import TocsinCore

/// When a delayed message is to come: Unix seconds, `30m`, `2h`, `1 day`, `2026-11-24T09:00`.
enum NtfyDelay {
    private static let shortestSeconds: Int64 = 10
    private static let longestSeconds: Int64 = 365 * 86_400

    static func moment(_ text: String, after now: Timestamp) throws(NtfyMessage.Refusal) -> Timestamp {
        guard let moment = moment(of: text.lowercased().trimmed, now) else {
            throw NtfyMessage.Refusal(
                40004,
                "unable to parse delay: write 30m, 2h, 1 day, Unix seconds or a time such as 2026-11-24T09:00"
            )
        }
        let milliseconds = moment.milliseconds - now.milliseconds
        guard milliseconds >= shortestSeconds * 1000 else {
            throw NtfyMessage.Refusal(40005, "delay too small: at least 10 seconds from now")
        }
        guard milliseconds <= longestSeconds * 1000 else {
            throw NtfyMessage.Refusal(40006, "delay too large: at most 365 days from now")
        }
        return moment
    }

    private static func moment(of text: String, _ now: Timestamp) -> Timestamp? {
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            guard text.utf8.count <= 12, let seconds = Int64(text) else { return nil }
            return Timestamp(milliseconds: seconds * 1000)
        }
        if let seconds = seconds(of: text) { return Timestamp(milliseconds: now.milliseconds + seconds * 1000) }
        return text.utf8.count >= 16 ? SenderTime.read(text: text) : nil
    }

    /// `1h30m`, `1 day`, `30min`.
    private static func seconds(of text: String) -> Int64? {
        var (rest, total) = (Substring(text), Int64(0))
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard let number = Int64(digits), digits.count <= 9 else { return nil }
            rest = rest.dropFirst(digits.count).drop { $0 == " " }
            let word = rest.prefix { $0.isASCII && $0.isLetter }
            guard let unit = units[String(word)] else { return nil }
            rest = rest.dropFirst(word.count).drop { $0 == " " || $0 == "," }
            total += number * unit
        }
        return text.isEmpty ? nil : total
    }

    private static let units: [String: Int64] = {
        let names: [(Int64, [String])] = [
            (1, ["s", "sec", "secs", "second", "seconds"]), (60, ["m", "min", "mins", "minute", "minutes"]),
            (3600, ["h", "hr", "hrs", "hour", "hours"]), (86_400, ["d", "day", "days"]),
            (604_800, ["w", "week", "weeks"]),
        ]
        return names.reduce(into: [:]) { units, entry in for name in entry.1 { units[name] = entry.0 } }
    }()
}
