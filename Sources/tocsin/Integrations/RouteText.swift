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
        + "\"priority N\", or both: 'team=db -> alerts priority 5'. What has spaces or quotes stands in quotes, "
        + "as a string of JSON."

    init(_ text: String) throws(CommandFailure) {
        let refusal = CommandFailure("\(Terminal.harmless(text)) is no route. \(Self.form)")
        guard let words = Self.words(text), let arrow = words.firstIndex(where: { $0.bare == "->" }) else {
            throw refusal
        }
        var matchers: [Matcher] = []
        for word in words[..<arrow] {
            guard let matcher = Matcher(word) else { throw refusal }
            matchers.append(matcher)
        }
        self.matchers = matchers
        var rest = words[(arrow + 1)...]
        if rest.dropLast().last?.bare == "priority", let priority = rest.last?.bare.flatMap({ Int64($0) }) {
            self.priority = priority
            rest.removeLast(2)
        }
        if !rest.isEmpty { topic = rest.map(\.text).joined(separator: " ") }
        guard !matchers.isEmpty, topic != nil || priority != nil else { throw refusal }
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

    /// As it is written; `init` reads the same from it.
    var text: String {
        let end = [topic.map(Self.written), priority.map { "priority \($0)" }].compactMap(\.self)
        return (matchers.map(\.written) + ["->"] + end).joined(separator: " ")
    }

    private static func written(topic: String) -> String {
        let words = topic.split(separator: " ", omittingEmptySubsequences: false)
        let isPriority = words.dropLast().last == "priority" && words.last.flatMap { Int64($0) } != nil
        return !isPriority && words.allSatisfy { RouteWord.isBare($0) } ? topic : RouteWord.quoted(topic)
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

extension RouteText {
    /// The words of a route; nil: a quote has no end, or what is in quotes is no string of JSON.
    private static func words(_ text: String) -> [RouteWord]? {
        var words: [RouteWord] = []
        var rest = Array(text.utf8)[...]
        while let first = rest.first {
            if first == UInt8(ascii: " ") {
                rest.removeFirst()
            } else {
                guard let word = RouteWord(beginning: &rest) else { return nil }
                words.append(word)
            }
        }
        return words
    }
}

extension RouteText.Matcher {
    /// Reads `LABEL=TEXT`, `LABEL!=TEXT` or `LABEL=*PATTERN`; nil: it is none.
    fileprivate init?(_ word: RouteWord) {
        guard var (before, behind) = word.split(at: UInt8(ascii: "=")) else { return nil }
        comparison = "="
        if before.last?.isQuoted == false, before.last?.text.utf8.last == UInt8(ascii: "!") {
            before[before.count - 1].text.unicodeScalars.removeLast()
            comparison = "!="
        } else if behind.first?.isQuoted == false, behind.first?.text.utf8.first == UInt8(ascii: "*") {
            behind[0].text.unicodeScalars.removeFirst()
            comparison = "=*"
        }
        (label, text) = (before.map(\.text).joined(), behind.map(\.text).joined())
        if label.isEmpty { return nil }
    }

    fileprivate var written: String {
        let isBareLabel = RouteWord.isBare(label) && !label.utf8.contains(UInt8(ascii: "=")) && !label.hasSuffix("!")
        let isBareText =
            comparison == "=*" && text.isEmpty
            || RouteWord.isBare(text) && (comparison == "=*" || text.utf8.first != UInt8(ascii: "*"))
        return (isBareLabel ? label : RouteWord.quoted(label)) + comparison
            + (isBareText ? text : RouteWord.quoted(text))
    }
}
