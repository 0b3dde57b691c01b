import JSON

/// A route as people write it: `team=db host=*db-* -> alerts priority 5`.
struct RouteText {
    struct Matcher {
        var label: String
        /// `=`, `!=` or `=*`.
        var comparison: String
        var text: String
    }

    var matchers: [Matcher]
    /// The topic's name or id; nil: the integration's own.
    var topic: String?
    var priority: Int64?

    static let help =
        "Where events go by their labels, such as 'team=db -> alerts priority 5'; =* is followed by a pattern with *. "
        + "Repeat it for more; the first that matches counts."
    private static let form =
        "Write LABEL=TEXT, LABEL!=TEXT or LABEL=*PATTERN, with spaces between several, then -> and a topic, "
        + "\"priority N\", or both: 'team=db -> alerts priority 5'."

    init(_ text: String) throws(CommandFailure) {
        let shown = Terminal.harmless(text)
        var matchers: [Matcher] = []
        var rest: [String] = []
        var isBehindArrow = false
        for word in try Self.words(text) {
            if isBehindArrow {
                rest.append(word)
            } else if word == "->" {
                isBehindArrow = true
            } else {
                guard let matcher = Self.matcher(word) else {
                    throw CommandFailure("\(shown) is no route. \(Self.form)")
                }
                matchers.append(matcher)
            }
        }
        self.matchers = matchers
        if rest.count >= 2, rest[rest.count - 2] == "priority", let priority = Int64(rest[rest.count - 1]) {
            self.priority = priority
            rest.removeLast(2)
        }
        if !rest.isEmpty { topic = rest.joined(separator: " ") }
        guard !matchers.isEmpty, topic != nil || priority != nil else {
            throw CommandFailure("\(shown) is no route. \(Self.form)")
        }
    }

    /// The route of an integration, with the names of topics that are known by their ids.
    init?(_ stored: JSONValue, topicNames: [String: String]) {
        guard let labels = stored["match"]?.stringValue.flatMap({ try? JSONParser.parse($0) })?.objectValue
        else { return nil }
        matchers = labels.flatMap { label in
            if let text = label.value.stringValue { return [Matcher(label: label.key, comparison: "=", text: text)] }
            return (label.value.objectValue ?? [:]).flatMap { comparison in
                (comparison.value.arrayValue ?? [comparison.value]).map {
                    Matcher(label: label.key, comparison: comparison.key, text: $0.stringValue ?? "")
                }
            }
        }
        topic = stored["topicId"]?.stringValue.map { topicNames[$0] ?? $0 }
        priority = stored["priority"]?.intValue
    }

    /// The words, of which those in quotes may have spaces.
    private static func words(_ text: String) throws(CommandFailure) -> [String] {
        var (words, word, isQuoted, isWord) = ([String](), "", false, false)
        for character in text {
            if character == "\"" {
                (isQuoted, isWord) = (!isQuoted, true)
                // In quotes, a text that begins with a star is no pattern.
                if isQuoted, word.hasSuffix("=") { word.append(quoted) }
            } else if character == " ", !isQuoted {
                if isWord { words.append(word) }
                (word, isWord) = ("", false)
            } else {
                word.append(character)
                isWord = true
            }
        }
        guard !isQuoted else { throw CommandFailure("\(Terminal.harmless(text)) has a quote without its end.") }
        if isWord { words.append(word) }
        return words
    }

    /// Stands where a quoted text begins.
    private static let quoted: Character = "\u{1}"

    private static func matcher(_ word: String) -> Matcher? {
        guard let sign = word.firstIndex(of: "=") else { return nil }
        var (label, rest) = (word[..<sign], word[word.index(after: sign)...])
        var comparison = "="
        if label.hasSuffix("!") {
            (label, comparison) = (label.dropLast(), "!=")
        } else if rest.hasPrefix("*") {
            (rest, comparison) = (rest.dropFirst(), "=*")
        }
        guard !label.isEmpty else { return nil }
        return Matcher(
            label: String(label),
            comparison: comparison,
            text: rest.filter { $0 != quoted }
        )
    }

    /// As it is written.
    var text: String {
        let conditions = matchers.map { matcher in
            let isBare = !matcher.text.isEmpty && !matcher.text.contains(" ") && !matcher.text.hasPrefix("*")
            let isPattern = matcher.comparison == "=*" && !matcher.text.contains(" ")
            let text = isBare || isPattern ? matcher.text : "\"\(matcher.text)\""
            return matcher.label + matcher.comparison + text
        }
        let end = [topic, priority.map { "priority \($0)" }].compactMap(\.self)
        return (conditions + ["->"] + end).joined(separator: " ")
    }

    /// As the server takes it, with the topic's id.
    func input(topicID: JSONValue?) -> JSONValue {
        var match: JSONObject = [:]
        for matcher in matchers {
            var comparisons = match[matcher.label]?.objectValue ?? [:]
            let texts = (comparisons[matcher.comparison]?.arrayValue ?? []) + [.string(matcher.text)]
            comparisons[matcher.comparison] = .array(texts)
            match[matcher.label] = .object(comparisons)
        }
        var route: JSONObject = ["match": .string(JSONValue.object(match).serializedString())]
        if let topicID { route["topicId"] = topicID }
        if let priority { route["priority"] = .int(priority) }
        return .object(route)
    }
}
