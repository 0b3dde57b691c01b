import JSON
import Testing
import TocsinCore
import TocsinReceivers

@Suite("The template language")
struct TemplateLanguageTests {
    private static let body = #"""
        {"a": {"b": [{"c": "first"}, {"c": "last"}], "empty": "", "null": null, "n": 7, "half": 0.5, "yes": true},
         "labels": {"app.kubernetes.io/name": "web", "a~b": "tilde", "two words": "spaced", "": "unnamed"},
         "list": [3, 1, 2, 1], "words": ["b", "a"], "text": "One two\nthree", "url": "https://u@db.example:8443/x?y",
         "wrapped": "{\"inner\": {\"deep\": 1}}", "html": "<p>A <b>bold</b> word &amp; more</p>",
         "slack": "<https://x.example|a link> *now*", "seconds": 7500, "big": 1500000000, "name": "b%c d",
         "body": "a member", "time": "2026-11-28 02:00:05", "unix": 1795834800, "millis": 1795834800123}
        """#

    /// The value of the only label, or of the body, of a template with this text.
    private static func value(_ text: String) throws -> String {
        let template = try TemplateSite.template(
            #"{"rules": [{"event": {"action": "log", "title": "t", "data": {"x": \#(JSONValue.string(text).serializedString())}}}]}"#
        )
        let request = TemplateSite.request(
            body,
            headers: ["Content-Type": "application/json", "X-Event": "push"],
            target: "/in/KEY/one/two?team=db&team=web"
        )
        guard case .events(let events, let notes) = TemplateReceiver(template).read(request, in: TemplateSite.context())
        else { return "refused" }
        #expect(notes.isEmpty, "\(notes)")
        return events.first?.data["x"] ?? ""
    }

    @Test(
        "a place leads to what it names, and to nothing where nothing is",
        arguments: [
            ("{a.b.0.c}", "first"), ("{a.b.-1.c}", "last"), ("{a.b.2.c}", ""), ("{a.n}", "7"), ("{a.yes}", "true"),
            ("{a.half}", "0.5"), ("{a.b.0}", #"{"c":"first"}"#), ("{a.none.deep.deeper}", ""), ("{a.n.x}", ""),
            ("{/a/b/0/c}", "first"), ("{/labels/app.kubernetes.io~1name}", "web"), ("{/labels/a~0b}", "tilde"),
            ("{/labels/two words}", "spaced"), ("{/labels/two words | upper}", "SPACED"), ("{/labels/}", "unnamed"),
            ("{header.X-Event}", "push"), ("{header.x-event}", "push"), ("{header.none}", ""),
            ("{query.team}", "db"), ("{path.1}", "one"), ("{path.2}", "two"), ("{path.3}", ""),
            ("{$now}", "2026-11-28T03:04:05.000Z"), ("{integration.name}", "Monitoring"), ("{/body}", "a member"),
            ("{wrapped.inner.deep}", "1"), ("{.x}", ""),
        ]
    )
    func places(text: String, value: String) throws {
        if text == "{.x}" {
            #expect(throws: TemplateProblem.self) { try Self.value(text) }
            return
        }
        #expect(try Self.value(text) == value)
    }

    @Test(
        "words, braces and the first that is there",
        arguments: [
            ("n is {a.n}", "n is 7"), ("{{{a.n}}}", "{7}"), ("{{a}}", "{a}"), ("a}}b", "a}b"),
            ("{a.none ?? a.empty ?? a.null ?? text | line}", "One two"), ("{a.none ?? \"none\"}", "none"),
            ("{a.none ?? \"a \\\"b\\\" }\"}", "a \"b\" }"), ("{a.n ?? \"x\"}", "7"), ("[{a.none}]", "[]"),
            ("{ a.n }", "7"), ("{a.n}{a.n}", "77"),
        ]
    )
    func texts(text: String, value: String) throws {
        #expect(try Self.value(text) == value)
    }

    @Test(
        "a filter changes what fits it",
        arguments: [
            ("{text | upper}", "ONE TWO\nTHREE"), ("{text | lower | line}", "one two"), ("{name | title}", "B%c D"),
            ("{text | after \"One\" | trim}", "two\nthree"), ("{text | first 3}", "One"),
            ("{text | lines 1}", "One two"),
            ("{list | first 2 | join}", "3, 1"), ("{list | join \"-\"}", "3-1-2-1"), ("{list | count}", "4"),
            ("{labels | count}", "4"), ("{a.b.0 | keys | join}", "c"), ("{a.b.0 | values | join}", "first"),
            ("{a.b.0 | pairs}", "c=first"), ("{list | last}", "1"), ("{list | at 1}", "1"), ("{list | at -2}", "2"),
            ("{list | sort | join}", "1, 1, 2, 3"), ("{words | sort | join}", "a, b"),
            ("{list | unique | join}", "3, 1, 2"), ("{a.b | json}", #"[{"c":"first"},{"c":"last"}]"#),
            ("{query.team | number}", "db"), ("{a.half | round}", "1"), ("{a.half | percent}", "50 %"),
            ("{big | bytes}", "1.5 GB"), ("{a.n | bytes}", "7 B"), ("{seconds | duration}", "2 h 5 min"),
            ("{time | time}", "2026-11-28T02:00:05.000Z"), ("{time | time \"UTC\"}", "2026-11-28T02:00:05.000Z"),
            ("{unix | time \"unix\"}", "2026-11-28T03:00:00.000Z"), ("{millis | time}", "2026-11-28T03:00:00.123Z"),
            ("{unix | time | ago}", "4 min 5 s ago"), ("{time | ago}", "1 h 4 min ago"),
            ("{html | plain}", "A bold word & more"), ("{slack | plain}", "a link now"), ("{name | url}", "b%25c%20d"),
            ("{url | host}", "db.example"), ("{a.n | word 7=\"seven\" 8=\"eight\"}", "seven"),
            ("{a.yes | word 7=seven}", "true"), ("{a.none | default \"nothing\"}", "nothing"),
            ("{text | before \" two\"}", "One"), ("{text | replace \"o\" \"0\" | line}", "One tw0"),
            ("{a.n | sha256}", String(repeating: "01", count: 32)),
        ]
    )
    func filters(text: String, value: String) throws {
        #expect(try Self.value(text) == value)
    }

    @Test(
        "a filter gives back unchanged what does not fit it",
        arguments: [
            "keys", "values", "pairs", "last", "at 0", "sort", "unique", "join", "count", "number", "round 2",
            "percent",
            "bytes", "time", "ago", "duration", "host", "after \"zzz\"", "before \"zzz\"", "word a=b", "default \"x\"",
        ]
    )
    func total(filter: String) throws {
        #expect(try Self.value("{name | \(filter)}") == "b%c d")
        #expect(try Self.value("{a.none | \(filter == "default \"x\"" ? "upper" : filter)}") == "")
    }

    @Test("a text that is one place alone takes its type; a missing one is absent")
    func types() throws {
        let template = try TemplateSite.template(
            """
            {"rules": [{"event": {"action": "{act}", "key": "k/{none}", "title": "{title}", "priority": "{p}",
              "labels": "{labels}", "url": "{none}", "links": {"each": "{links}", "give": {"text": "{.t}", "url": "{.u}"}}}}]}
            """
        )
        let request = TemplateSite.request(
            """
            {"act": "trigger", "title": "T", "p": 5, "labels": {"a": 1, "b": "", "c": true},
             "links": [{"t": "one", "u": "https://x.example"}, null, {"t": "no address"}]}
            """
        )
        var event = SenderEvent(.trigger, title: "T")
        event.priority = 5
        event.labels = ["a": "1", "c": "true"]
        event.links = [SenderEvent.Link(text: "one", url: "https://x.example")]
        #expect(TemplateReceiver(template).read(request, in: TemplateSite.context()) == .events([event]))
    }
}
