import Testing
import TocsinCore

@Suite("Routes of integrations")
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
