import Testing
import TocsinCore
import TocsinReceivers

@Suite("Senders' keys")
struct SenderKeysTests {
    static let key = Sample.key
    static let other = "234567abcdefghijklmnopqrstuvwxyz"

    /// A request in words, the kind it goes to, the key in it.
    struct Place: Sendable, CustomTestStringConvertible {
        var kind: Integration.Kind
        var target: String
        var headers: [(String, String)] = []
        var body = ""
        var isAuthorization = false

        var testDescription: String { "\(kind) \(target) \(headers) \(body)" }
    }

    static let places: [Place] = [
        Place(kind: .event, target: "/in/\(key)"),
        Place(kind: .template, target: "/in/\(key)/more?x=1"),
        Place(kind: .slack, target: "/services/T/B/\(key)"),
        Place(kind: .slack, target: "/hooks/\(key)"),
        Place(kind: .slack, target: "/hooks/a/\(key)"),
        Place(kind: .heartbeat, target: "/ping/\(key)/backup/1"),
        Place(kind: .heartbeat, target: "/api/push/\(key)?status=up"),
        Place(
            kind: .alertmanager,
            target: "/in/alertmanager",
            headers: [("authorization", "Bearer \(key)")],
            isAuthorization: true
        ),
        Place(
            kind: .grafana,
            target: "/in/grafana",
            headers: [("Authorization", "token  \(key)")],
            isAuthorization: true
        ),
        Place(
            kind: .event,
            target: "/in/event",
            headers: [("Authorization", "GenieKey \(key)")],
            isAuthorization: true
        ),
        Place(kind: .ntfy, target: "/alerts", headers: [("Authorization", "Bearer tk_\(key)")], isAuthorization: true),
        // A user and the key; no user; no password; Apprise's password "None".
        Place(
            kind: .ntfy,
            target: "/alerts",
            headers: [("Authorization", "Basic YWxpY2U6YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoyMzQ1Njc=")],
            isAuthorization: true
        ),
        Place(
            kind: .ntfy,
            target: "/alerts",
            headers: [("Authorization", "Basic OmFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6MjM0NTY3")],
            isAuthorization: true
        ),
        Place(
            kind: .ntfy,
            target: "/alerts",
            headers: [("Authorization", "Basic YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoyMzQ1Njc6")],
            isAuthorization: true
        ),
        Place(
            kind: .ntfy,
            target: "/alerts",
            headers: [("Authorization", "Basic YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoyMzQ1Njc6Tm9uZQ==")],
            isAuthorization: true
        ),
        Place(
            kind: .ntfy,
            target: "/alerts/publish?auth=QmVhcmVyIGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6MjM0NTY3",
            isAuthorization: true
        ),
        Place(kind: .gotify, target: "/message?token=\(key)"),
        Place(kind: .gotify, target: "/message", headers: [("x-gotify-key", key)]),
        Place(kind: .event, target: "/in/event", headers: [("X-Api-Key", key)]),
        Place(kind: .pagerDuty, target: "/v2/enqueue", headers: [("X-Routing-Key", key)]),
        Place(kind: .pagerDuty, target: "/v2/enqueue", body: "{\"routing_key\":\"\(key)\"}"),
        Place(kind: .cloudEvents, target: "/in/cloudevents?access_token=\(key)"),
    ]

    @Test("a key is found wherever a sender may put it", arguments: places)
    func found(place: Place) {
        let request = Sample.request("POST", place.target, headers: place.headers, body: place.body)
        let expected = SenderKeys.Finding.key(.init(text: Self.key, isAuthorization: place.isAuthorization))
        #expect(SenderKeys.find(in: request, kind: place.kind) == expected)
    }

    @Test("the same key twice is one, two that differ are refused")
    func twice() {
        let same = Sample.request("POST", "/in/\(Self.key)", headers: [("Authorization", "Bearer \(Self.key)")])
        #expect(SenderKeys.find(in: same, kind: .event) == .key(.init(text: Self.key, isAuthorization: true)))
        let two = Sample.request("POST", "/in/\(Self.key)", headers: [("Authorization", "Bearer \(Self.other)")])
        #expect(SenderKeys.find(in: two, kind: .event) == .differing)
        let inBody = Sample.request(
            "POST",
            "/v2/enqueue",
            headers: [("X-Routing-Key", Self.other)],
            body: "{\"routing_key\":\"\(Self.key)\"}"
        )
        #expect(SenderKeys.find(in: inBody, kind: .pagerDuty) == .differing)
    }

    @Test(
        "a request without a key has none",
        arguments: ["/in/alertmanager", "/in/to/alerts/ntfy", "/alerts?token=", "/", "", "/hooks", "/services"]
    )
    func none(target: String) {
        #expect(SenderKeys.find(in: Sample.request("POST", target), kind: .ntfy) == .none)
    }

    @Test(
        "keys are masked in paths and queries",
        arguments: [
            ("/in/\(key)", "/in/***"),
            ("/in/wrong-key/a?x=1", "/in/***/a?x=1"),
            ("/in/alertmanager", "/in/alertmanager"),
            ("/in/to/alerts/ntfy", "/in/to/alerts/ntfy"),
            ("/%69n/secret", "/%69n/***"),
            ("/services/T/B/secret", "/services/T/B/***"),
            ("/hooks/secret", "/hooks/***"),
            ("/hooks/a/secret", "/hooks/a/***"),
            ("/act/secret", "/act/***"),
            ("/IN/\(key.uppercased())/", "/IN/***/"),
            ("/ping/secret/backup/start?rid=1", "/ping/***/backup/start?rid=1"),
            ("/api/push/secret?status=up", "/api/push/***?status=up"),
            ("/message?token=secret&title=a", "/message?token=***&title=a"),
            (
                "/a?AUTH=x&apiKey=y&access_token=z&routing_key=q&%74oken=v",
                "/a?AUTH=***&apiKey=***&access_token=***&routing_key=***&%74oken=***"
            ),
            ("/alerts/\(key)?q=\(key)", "/alerts/***?q=***"),
            ("//in//secret", "//in//***"),
            ("", ""),
        ]
    )
    func masked(target: String, expected: String) {
        #expect(SenderKeys.masked(target) == expected)
    }
}
