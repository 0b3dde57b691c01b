import JSON
package import TocsinCore

/// What is wrong with the routes of an integration, in a sentence that says what to write.
package struct RouteProblem: Error {
    /// The sentence.
    package var text: String
}

// Routes as they are stored.
extension IntegrationRoute {
    /// Routes of one integration.
    package static let maximumRoutes = 20
    private static let maximumMatchers = 10
    private static let maximumLabelBytes = 128
    private static let maximumPatternBytes = 64

    /// The routes of a stored value; null is none.
    package static func list(_ value: FieldValue) throws(RouteProblem) -> [IntegrationRoute] {
        guard value != .null else { return [] }
        guard let items = IntegrationHook.parsed(value)?.arrayValue, items.count <= maximumRoutes else {
            throw RouteProblem(text: "routes must be a list of at most \(maximumRoutes).")
        }
        var routes: [IntegrationRoute] = []
        for (index, item) in items.enumerated() {
            do throws(RouteProblem) {
                routes.append(try route(item))
            } catch {
                throw RouteProblem(text: "routes[\(index)]: \(error.text)")
            }
        }
        return routes
    }

    private static func route(_ item: JSONValue) throws(RouteProblem) -> IntegrationRoute {
        let match = item["match"]
        let labels = match?.objectValue ?? match?.stringValue.flatMap { try? JSONParser.parse($0) }?.objectValue
        guard let labels else { throw RouteProblem(text: form) }
        var matchers: [Matcher] = []
        for label in labels { matchers += try self.matchers(label.key, label.value) }
        guard (1...maximumMatchers).contains(matchers.count) else {
            throw RouteProblem(text: "match must say of 1 to \(maximumMatchers) labels what they are.")
        }
        let topic = item["topicId"]?.stringValue.map { TopicID($0) }
        let priority = item["priority"]?.intValue.map { Int($0) }
        guard topic != nil || priority != nil else {
            throw RouteProblem(text: "A route needs a topicId, a priority, or both.")
        }
        if let priority, !(1...5).contains(priority) {
            throw RouteProblem(text: "priority must be 1 (min) to 5 (critical); it is \(priority).")
        }
        return IntegrationRoute(matchers, topicID: topic, priority: priority)
    }

    private static let form =
        "match must be an object of labels, each with its text or with \"!=\" or \"=*\" and a text: "
        + #"{"team": "db"}, {"team": {"!=": "web"}}, {"host": {"=*": "db-*"}}."#

    private static func matchers(_ label: String, _ value: JSONValue) throws(RouteProblem) -> [Matcher] {
        guard (1...maximumLabelBytes).contains(label.utf8.count) else {
            throw RouteProblem(text: "The name of a label must have 1 to \(maximumLabelBytes) bytes.")
        }
        let pairs: [(key: String, value: JSONValue)] =
            value.stringValue != nil
            ? [(Matcher.Comparison.equals.rawValue, value)]
            : (value.objectValue ?? [:]).map { ($0.key, $0.value) }
        var matchers: [Matcher] = []
        for pair in pairs {
            guard let comparison = Matcher.Comparison(rawValue: pair.key) else { throw RouteProblem(text: form) }
            // Of a list, all must hold.
            for item in pair.value.arrayValue ?? [pair.value] {
                guard let text = item.stringValue else { throw RouteProblem(text: form) }
                matchers.append(try matcher(label, comparison, text))
            }
        }
        guard !matchers.isEmpty else { throw RouteProblem(text: form) }
        // As people write "one of these", which would match nothing.
        guard Set(matchers.lazy.filter { $0.comparison == .equals }.map(\.text)).count <= 1 else {
            throw RouteProblem(
                text: "\(label.debugDescription) cannot be two texts at once. Write a route for each, or one pattern."
            )
        }
        return matchers
    }

    private static func matcher(
        _ label: String,
        _ comparison: Matcher.Comparison,
        _ text: String
    ) throws(RouteProblem) -> Matcher {
        let longest = comparison == .resembles ? maximumPatternBytes : Matcher.maximumTextBytes
        guard text.utf8.count <= longest else {
            throw RouteProblem(
                text:
                    "The text of \(label.debugDescription) has \(text.utf8.count) bytes; at most \(longest) are allowed."
            )
        }
        return Matcher(label, comparison, text)
    }
}
