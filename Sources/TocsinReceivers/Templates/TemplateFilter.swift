package import TocsinCore

/// A function of one value, total: what does not fit is given back unchanged.
package indirect enum TemplateFilter: Sendable, Hashable {
    // Texts
    case upper
    case lower
    case title
    case trim
    case first(Int)
    case line
    case lines(Int)
    case plain
    case url
    case host
    case sha256
    case word([String: String])
    case fallback(String)
    case after(String)
    case before(String)
    case replace(String, with: String)
    // Lists and objects
    case join(String)
    case count
    case keys
    case values
    case pairs
    case last
    case at(Int)
    case sort
    case unique
    case json
    // Numbers and times
    case number
    case round(Int)
    case percent
    case bytes
    case time(TimeForm)
    case ago
    case duration

    /// What numbers and texts without a zone mean as a time.
    package enum TimeForm: Sendable, Hashable {
        /// Texts are of this zone; numbers are seconds, or milliseconds where they are large.
        case zone(ZoneRules)
        /// Seconds since 1970.
        case seconds
        /// Milliseconds since 1970.
        case milliseconds
    }

    private static let bare: [String: TemplateFilter] = [
        "upper": .upper, "lower": .lower, "title": .title, "trim": .trim, "line": .line, "plain": .plain, "url": .url,
        "host": .host, "sha256": .sha256, "count": .count, "keys": .keys, "values": .values, "pairs": .pairs,
        "last": .last, "sort": .sort, "unique": .unique, "json": .json, "number": .number, "percent": .percent,
        "bytes": .bytes, "ago": .ago, "duration": .duration,
    ]
    private static let withArguments = [
        "first", "lines", "join", "at", "round", "time", "word", "default", "after", "before", "replace",
    ]

    /// All of them.
    static let names = Set(bare.keys).union(withArguments)

    /// The filter of a name with its arguments.
    init(_ name: String, _ arguments: [FilterArgument], zones: ZoneLookup) throws(TemplateProblem) {
        if let filter = Self.bare[name] {
            guard arguments.isEmpty else { throw TemplateProblem("the filter \(name) takes nothing behind it") }
            self = filter
            return
        }
        guard Self.names.contains(name) else {
            throw TemplateProblem(
                "there is no filter \"\(name)\". Known are \(Self.names.sorted().joined(separator: ", "))"
            )
        }
        let texts = arguments.map(\.text)
        switch name {
        case "word":
            let words = arguments.compactMap { argument in argument.key.map { ($0.lowercased(), argument.text) } }
            guard !words.isEmpty, words.count == arguments.count else {
                throw TemplateProblem("the filter word takes pairs: word 0=\"is down\" 1=\"is up\"")
            }
            self = .word(Dictionary(words, uniquingKeysWith: { $1 }))
            return
        case _ where arguments.contains { $0.key != nil }:
            throw TemplateProblem("only the filter word takes pairs with =. Put a text with = in quotes")
        case "join" where texts.count <= 1: self = .join(texts.first ?? ", ")
        case "time" where texts.count <= 1: self = .time(try Self.form(texts.first, zones))
        case "round" where texts.isEmpty: self = .round(0)
        case "round" where texts.count == 1: self = .round(try Self.number(texts[0], of: name, in: 0...9))
        case "at" where texts.count == 1: self = .at(try Self.number(texts[0], of: name, in: -100_000...100_000))
        case "first" where texts.count == 1: self = .first(try Self.number(texts[0], of: name, in: 0...65_536))
        case "lines" where texts.count == 1: self = .lines(try Self.number(texts[0], of: name, in: 0...65_536))
        case "default" where texts.count == 1: self = .fallback(texts[0])
        case "after" where texts.count == 1 && texts[0] != "": self = .after(texts[0])
        case "before" where texts.count == 1 && texts[0] != "": self = .before(texts[0])
        case "replace" where texts.count == 2 && texts[0] != "": self = .replace(texts[0], with: texts[1])
        default: throw TemplateProblem("the filter \(name) is written \(Self.form(of: name))")
        }
    }

    private static func form(of name: String) -> String {
        switch name {
        case "join": "join \", \""
        case "time": "time, time \"Europe/Berlin\", time \"unix\" or time \"millis\""
        case "replace": "replace \"A\" \"B\""
        case "first", "lines", "at", "round": "\(name) 3"
        default: "\(name) \"text\""
        }
    }

    private static func number(
        _ text: String,
        of name: String,
        in range: ClosedRange<Int>
    ) throws(TemplateProblem) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw TemplateProblem(
                "the filter \(name) takes a whole number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\""
            )
        }
        return number
    }

    private static func form(_ text: String?, _ zones: ZoneLookup) throws(TemplateProblem) -> TimeForm {
        switch text {
        case nil, "UTC"?: return .zone(.utc)
        case "unix"?: return .seconds
        case "millis"?: return .milliseconds
        case let name?:
            guard let zone = zones(name) else {
                throw TemplateProblem(
                    "there is no time zone \"\(name)\" here. Write one like \"UTC\" or \"Europe/Berlin\", or \"unix\" or "
                        + "\"millis\" for numbers"
                )
            }
            return .zone(zone)
        }
    }
}
