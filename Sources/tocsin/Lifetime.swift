import ArgumentParser

/// A length of time as people write it: `90s`, `15m`, `12h`, `30d`, `1y`.
struct Lifetime: ExpressibleByArgument {
    let seconds: Double

    private static let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "y": 31_536_000]
    private static let longestSeconds = 10 * 31_536_000.0

    init(seconds: Double) {
        self.seconds = seconds
    }

    init?(argument: String) {
        guard let last = argument.last, let unit = Self.units[last], let count = Double(argument.dropLast()),
            count > 0, count * unit <= Self.longestSeconds
        else { return nil }
        self.init(seconds: count * unit)
    }

    var defaultValueDescription: String { "\(Int(seconds / 86_400))d" }
}
