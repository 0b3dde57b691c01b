import Testing
import TocsinCore

@Suite("Routes of integrations", .timeLimit(.minutes(1)))
struct IntegrationRouteTests {
    private static let labels = ["team": "db", "host": "db-3.eu", "empty": "", "café": "\u{E9}"]

    @Test(
        "a matcher compares a label as its sign says; a label that is missing is empty, and has no pattern",
        arguments: [
            ("team", "=", "db", true), ("team", "=", "DB", false), ("none", "=", "", true), ("none", "=", "db", false),
            ("team", "!=", "web", true), ("team", "!=", "db", false), ("none", "!=", "db", true),
            ("host", "=*", "db-*", true), ("host", "=*", "*.eu", true), ("host", "=*", "d*-*eu", true),
            ("host", "=*", "*", true), ("host", "=*", "**", true), ("host", "=*", "db-3.eu", true),
            ("host", "=*", "db-3", false), ("host", "=*", "*3*3*", false), ("host", "=*", "*.us", false),
            ("host", "=*", "", false), ("empty", "=*", "*", true), ("none", "=*", "*", false),
            // One letter and a letter with its accent look alike.
            ("café", "=", "\u{E9}", true), ("café", "=", "e\u{301}", false), ("café", "!=", "e\u{301}", true),
            ("café", "=*", "\u{E9}*", true), ("café", "=*", "e\u{301}*", false),
        ]
    )
    func matches(_ label: String, _ sign: String, _ text: String, _ isMatch: Bool) throws {
        let comparison = try #require(IntegrationRoute.Matcher.Comparison(rawValue: sign))
        let route = IntegrationRoute([IntegrationRoute.Matcher(label, comparison, text)], priority: 5)
        #expect(route.matches(Self.labels) == isMatch)
    }

    @Test("a pattern means the same however often its stars stand, up to the longest that routes have")
    func patterns() {
        func has(_ text: Substring, _ pattern: Substring) -> Bool {
            guard let first = pattern.first else { return text.isEmpty }
            if first == "*" {
                return has(text, pattern.dropFirst()) || (!text.isEmpty && has(text.dropFirst(), pattern))
            }
            return text.first == first && has(text.dropFirst(), pattern.dropFirst())
        }
        var (patterns, texts) = ([""], [""])
        for _ in 0..<4 { patterns += patterns.flatMap { [$0 + "a", $0 + "b", $0 + "*"] } }
        for _ in 0..<4 { texts += texts.flatMap { [$0 + "a", $0 + "b"] } }
        for pattern in Set(patterns) {
            let matcher = IntegrationRoute([IntegrationRoute.Matcher("host", .resembles, pattern)], priority: 1)
            for text in Set(texts) {
                #expect(matcher.matches(["host": text]) == has(text[...], pattern[...]), "\(text) \(pattern)")
            }
        }
        let literals = String(repeating: "a", count: 63)
        let longest = IntegrationRoute([IntegrationRoute.Matcher("host", .resembles, literals + "*")], priority: 1)
        #expect(longest.matches(["host": literals + "b"]) && longest.matches(["host": literals]))
        #expect(!longest.matches(["host": String(literals.dropLast())]))
    }

    @Test("a post of two thousand alerts that fit badly costs next to nothing, whatever the patterns are")
    func cost() {
        var integration = Integration(id: "i", owner: "ada", name: "n", kind: .alertmanager, topicID: TopicID("own"))
        // Each of the first nine nearly fails at each byte, and the last does.
        var matchers = Array(
            repeating: IntegrationRoute.Matcher("a", .resembles, "*" + String(repeating: "a", count: 63)),
            count: 9
        )
        matchers.append(IntegrationRoute.Matcher("a", .resembles, "*" + String(repeating: "a", count: 62) + "b"))
        integration.routes = Array(repeating: IntegrationRoute(matchers, priority: 1), count: 20)
        var event = SenderEvent(.trigger, key: "k", title: "t")
        event.labels = ["a": String(repeating: "a", count: 256)]
        for _ in 0..<2000 { #expect(integration.route(of: event) == nil) }
    }

    @Test("all matchers must hold, and the first route counts; an event of one alert has that alert's labels too")
    func first() {
        var integration = Integration(id: "i", owner: "ada", name: "n", kind: .alertmanager, topicID: TopicID("own"))
        let team = IntegrationRoute.Matcher("team", .equals, "db")
        integration.routes = [
            IntegrationRoute([team, IntegrationRoute.Matcher("env", .equals, "live")], priority: 5),
            IntegrationRoute([team], topicID: TopicID("other")), IntegrationRoute([team], priority: 1),
        ]
        var event = SenderEvent(.trigger, key: "k", title: "t")
        #expect(integration.route(of: event) == nil)
        event.alerts = [SenderEvent.Alert(fingerprint: "f", isFiring: true, title: "t", labels: ["team": "db"])]
        #expect(integration.route(of: event) == integration.routes[1])
        event.labels = ["env": "live"]
        #expect(integration.route(of: event) == integration.routes[0])
        event.alerts.append(event.alerts[0])
        #expect(integration.route(of: event) == nil)
    }
}
