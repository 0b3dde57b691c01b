/// Which requests have a line in the log; those that are refused or fail always have one.
package enum RequestLogPolicy: Sendable, Hashable, CustomStringConvertible {
    /// Every one.
    case all
    /// Those alone.
    case errors
    /// Those that took at least so long.
    case slow(milliseconds: Double)
    /// This part of them, from 0 to 1.
    case sample(Double)

    /// The policy of this text: `all`, `errors`, `slow:250ms`, `sample:0.01`; nil when it is none.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        switch (parts.first, parts.dropFirst().first) {
        case ("all", nil): self = .all
        case ("errors", nil): self = .errors
        case ("slow", let time?):
            guard let milliseconds = Self.milliseconds(time) else { return nil }
            self = .slow(milliseconds: milliseconds)
        case ("sample", let part?):
            guard let part = Self.number(part), part <= 1 else { return nil }
            self = .sample(part)
        default: return nil
        }
    }

    /// The policy as it is written in settings.
    package var description: String {
        switch self {
        case .all: "all"
        case .errors: "errors"
        case .slow(let milliseconds): "slow:\(Self.shown(milliseconds))ms"
        case .sample(let part): "sample:\(Self.shown(part))"
        }
    }

    private static func milliseconds(_ text: Substring) -> Double? {
        let value: Double?
        if text.hasSuffix("ms") {
            value = number(text.dropLast(2))
        } else if text.hasSuffix("s") {
            value = number(text.dropLast()).map { $0 * 1000 }
        } else {
            value = nil
        }
        return value.flatMap { $0 <= 3_600_000 ? $0 : nil }
    }

    /// Digits with at most one point.
    private static func number(_ text: Substring) -> Double? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }) else { return nil }
        return Double(text)
    }

    private static func shown(_ number: Double) -> String {
        number == number.rounded() ? String(Int(number)) : String(number)
    }
}
