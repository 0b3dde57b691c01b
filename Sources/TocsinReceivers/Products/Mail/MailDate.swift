import TocsinCore

/// Dates of mails (RFC 5322 §3.3): `Sat, 28 Nov 2026 03:11:05 +0100`.
enum MailDate {
    static func read(_ text: String) -> Timestamp? {
        var parts = text.split(whereSeparator: { $0 == " " || $0 == "," }).prefix(10)
        if let first = parts.first?.utf8.first, !(0x30...0x39).contains(first) { parts.removeFirst() }
        let words = Array(parts)
        guard words.count >= 4, let day = Int64(words[0]), (1...31).contains(day), let year = Int64(words[2]),
            (1970...9999).contains(year),
            let month = months.firstIndex(of: words[1].lowercased())
        else { return nil }
        let clock = words[3].split(separator: ":").map { Int64($0) ?? -1 }
        guard (2...3).contains(clock.count), zip(clock, [24, 60, 61]).allSatisfy({ $0 >= 0 && $0 < $1 }) else {
            return nil
        }
        let seconds = clock[0] * 3600 + clock[1] * 60 + (clock.count > 2 ? clock[2] : 0)
        let days = CivilDate.days(year: year, month: Int64(month) + 1, day: day)
        let offset = words.count > 4 ? offsetSeconds(words[4]) : 0
        return Timestamp(milliseconds: (days * 86_400 + seconds - offset) * 1000)
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// `+0100`; a name of a zone is UTC.
    private static func offsetSeconds(_ text: Substring) -> Int64 {
        guard text.utf8.count == 5, let sign = text.first, sign == "+" || sign == "-",
            let number = Int64(text.dropFirst()), (0...2400).contains(number)
        else { return 0 }
        return (number / 100 * 3600 + number % 100 * 60) * (sign == "-" ? -1 : 1)
    }
}
