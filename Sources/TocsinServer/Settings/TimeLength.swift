/// A length of time as people write it: `90s`, `15m`, `12h`, `30d`, `1y`.
package enum TimeLength {
    /// The units, the largest first, in seconds.
    static let units: KeyValuePairs = ["y": 31_536_000.0, "d": 86_400, "h": 3600, "m": 60, "s": 1]

    /// The seconds that are meant; nil for any other text.
    package static func seconds(_ text: String) -> Double? {
        guard let unit = units.first(where: { text.hasSuffix($0.key) })?.value else { return nil }
        return count(String(text.dropLast())).map { $0 * unit }
    }

    /// As it is written in the largest unit that leaves no rest.
    static func text(seconds: Double) -> String {
        let unit = units.first { (seconds / $0.value).rounded() == seconds / $0.value }
        let count = seconds / (unit?.value ?? 1)
        let number = count == count.rounded() && count.magnitude < 1e15 ? String(Int(count)) : String(count)
        return number + (unit?.key ?? "s")
    }

    /// Digits and a point alone: no sign, no exponent, no `nan`.
    private static func count(_ text: String) -> Double? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }) else { return nil }
        return Double(text)
    }
}
