import JSON
import TocsinCore

extension TemplateFilter {
    /// The filter's value; texts and lists cost steps by their length.
    func applied(to value: JSONValue, in run: inout TemplateRun) -> JSONValue {
        switch self {
        case .join, .count, .keys, .values, .pairs, .last, .at, .sort, .unique, .json:
            return ofLists(value, &run)
        case .number, .round, .percent, .bytes, .duration: return ofNumbers(value)
        case .time(let form): return TimeText.moment(value, form).map { .string($0.iso8601) } ?? value
        case .ago:
            guard let now = TimeText.moment(run.scope.variables["now"] ?? .null, .zone(.utc)),
                let moment = TimeText.moment(value, .zone(.utc))
            else { return value }
            let seconds = Double(now.milliseconds - moment.milliseconds) / 1000
            let span = NumberText.duration(abs(seconds))
            return .string(seconds < 0 ? "in \(span)" : "\(span) ago")
        case .fallback(let text): return value.isEmpty ? .string(text) : value
        case .first(let count):
            if case .array(let items) = value { return .array(Array(items.prefix(count))) }
            return ofTexts(value, &run)
        default: return ofTexts(value, &run)
        }
    }

    private func ofTexts(_ value: JSONValue, _ run: inout TemplateRun) -> JSONValue {
        let text: String
        switch value {
        case .string(let whole): text = whole
        case .int, .double, .bool: text = value.plainText
        default: return value
        }
        guard run.spend(TemplateRun.steps(of: text) * weight) else { return .null }
        if case .sha256 = self { return .string(HexText.text(of: run.scope.sha256(Array(text.utf8)))) }
        return changed(text, bytes: run.maximumTextBytes).map { .string($0) } ?? value
    }

    /// How much more a text costs than to be read once.
    private var weight: Int {
        switch self {
        case .plain, .title, .replace: 16
        case .after, .before, .url, .sha256: 8
        default: 1
        }
    }

    /// nil: it does not fit.
    private func changed(_ text: String, bytes: Int) -> String? {
        switch self {
        case .upper: text.uppercased()
        case .lower: text.lowercased()
        case .title: Self.titled(text)
        case .trim: text.trimmed
        case .first(let count): String(text.prefix(count))
        case .line: text.split(whereSeparator: \.isNewline).first.map(String.init)
        case .lines(let count):
            text.split(maxSplits: count, omittingEmptySubsequences: false, whereSeparator: \.isNewline).prefix(count)
                .joined(separator: "\n")
        case .plain: PlainText.of(text)
        case .url: AddressText.encoded(text, maximumBytes: bytes)
        case .host: AddressText.host(of: text)
        case .word(let words): words[text.lowercased()]
        case .after(let mark): text.firstRange(of: mark).map { String(text[$0.upperBound...]) }
        case .before(let mark): text.firstRange(of: mark).map { String(text[..<$0.lowerBound]) }
        case .replace(let old, let new): Self.replaced(text, old, new, bytes: bytes)
        default: nil
        }
    }

    private func ofLists(_ value: JSONValue, _ run: inout TemplateRun) -> JSONValue {
        switch (self, value) {
        case (.join(let separator), .array(let items)):
            return Self.joined(items.map(\.plainText), separator, &run)
        case (.pairs, .object(let members)):
            return Self.joined(members.map { "\($0.key)=\($0.value.plainText)" }, "\n", &run)
        case (.count, .array(let items)): return .int(Int64(items.count))
        case (.count, .object(let members)): return .int(Int64(members.count))
        case (.keys, .object(let members)): return .array(members.keys.map { .string($0) })
        case (.values, .object(let members)): return .array(members.values)
        case (.last, .array(let items)): return items.last ?? .null
        case (.at(let position), .array(let items)):
            let index = position < 0 ? items.count + position : position
            return items.indices.contains(index) ? items[index] : .null
        case (.sort, .array(let items)):
            run.spend(items.count)
            return .array(Self.sorted(items))
        case (.unique, .array(let items)):
            run.spend(items.count)
            var seen: Set<JSONValue> = []
            return .array(items.filter { seen.insert($0).inserted })
        case (.json, _):
            let text = value.serializedString()
            run.spend(TemplateRun.steps(of: text))
            return .string(text.cut(toBytes: run.maximumTextBytes, mark: "…"))
        default: return value
        }
    }

    private func ofNumbers(_ value: JSONValue) -> JSONValue {
        if case .number = self {
            guard case .string(let text) = value, let number = NumberText.number(text.trimmed) else { return value }
            return number
        }
        let given = value.doubleValue ?? value.stringValue.flatMap { NumberText.number($0)?.doubleValue }
        guard let number = given, number.isFinite, abs(number) < 1e15 else { return value }
        switch self {
        case .round(let digits): return NumberText.rounded(number, digits)
        case .percent: return .string(NumberText.rounded(number * 100, 1).plainText + " %")
        case .bytes: return .string(NumberText.bytes(number))
        case .duration: return .string(NumberText.duration(number))
        default: return value
        }
    }

    // MARK: Pieces

    private static func joined(_ texts: [String], _ separator: String, _ run: inout TemplateRun) -> JSONValue {
        var text = ""
        for (index, part) in texts.enumerated() {
            if index > 0 { text += separator }
            text += part
            if text.utf8.count > run.maximumTextBytes { break }
        }
        run.spend(texts.count + TemplateRun.steps(of: text))
        return .string(text.cut(toBytes: run.maximumTextBytes, mark: "…"))
    }

    private static func replaced(_ text: String, _ old: String, _ new: String, bytes: Int) -> String {
        var result = ""
        var rest = text[...]
        while let range = rest.firstRange(of: old), result.utf8.count <= bytes {
            result += rest[..<range.lowerBound]
            result += new
            rest = rest[range.upperBound...]
        }
        return result + rest
    }

    private static func titled(_ text: String) -> String {
        var isAtStart = true
        var result = ""
        for character in text {
            result += isAtStart ? character.uppercased() : String(character)
            isAtStart = character.isWhitespace
        }
        return result
    }

    private static func sorted(_ items: [JSONValue]) -> [JSONValue] {
        if items.allSatisfy({ $0.doubleValue != nil }) {
            return items.sorted { ($0.doubleValue ?? 0) < ($1.doubleValue ?? 0) }
        }
        return items.map { (key: $0.plainText, value: $0) }.sorted { $0.key < $1.key }.map(\.value)
    }
}
