import JSON
import Testing
import TocsinCore
import TocsinReceivers

@Suite("Mistakes in templates")
struct TemplateProblemTests {
    private static func problem(_ text: String) -> String {
        do throws(TemplateProblem) {
            _ = try TemplateSite.template(text)
            return "no problem"
        } catch {
            return error.text
        }
    }

    private static func event(_ members: String) -> String { #"{"rules": [{"event": {\#(members)}}]}"# }

    @Test(
        "a mistake is told with where it is and what to write instead",
        arguments: [
            ("[]", "a receiver is an object"), (#"{"rules": 1}"#, "\"rules\" must be a list"),
            (#"{"rules": [], "colour": 1}"#, "\"colour\" means nothing here. Known are about, answer"),
            (#"{"name": "A b", "rules": []}"#, "small letters, digits and dashes"),
            (#"{"rules": [], "else": "drop"}"#, "\"log\", \"ignore\" or \"refuse\""),
            (#"{"rules": [], "signature": {"header": 1}}"#, "a signature is"),
            (#"{"rules": [], "answer": {"status": 500}}"#, "answer: \"status\" must be 200, 201, 202 or 204"),
            (#"{"rules": [1]}"#, "rule 1: a rule is an object"),
            (
                #"{"rules": [{"event": {"action": "log", "title": "a"}}, {"on": 1, "event": {}}]}"#,
                "rule 2: \"on\" means nothing"
            ),
            (
                #"{"rules": [{"when": [{"place": "s", "is": 1}], "event": {}}]}"#,
                "rule 1: when: \"place\" must be one placeholder"
            ),
            (
                #"{"rules": [{"when": [{"place": "{s}", "has": 1}], "event": {}}]}"#,
                "\"has\" means nothing in a condition"
            ),
            (#"{"rules": [{"when": [{"place": "{s}", "above": "x"}], "event": {}}]}"#, "\"above\" must be a number"),
            (#"{"rules": [{"when": {"any": []}, "event": {}}]}"#, "\"any\" is a list"),
            (
                #"{"rules": [{"each": "alerts", "event": {}}]}"#,
                "rule 1: each: it must be the placeholder of a list alone"
            ),
        ]
    )
    func frames(text: String, words: String) {
        let problem = Self.problem(text)
        #expect(problem.contains(words), "\(problem)")
    }

    @Test(
        "a mistake in an event is told by rule and member",
        arguments: [
            (#""title": "x""#, "event: \"action\" is missing"), (#""action": "log""#, "event: \"title\" is missing"),
            (#""action": "page", "title": "x""#, "action: \"page\" is no action. Write one of trigger"),
            (
                #""action": {"from": "{s}", "words": {"a": "page"}, "default": "log"}, "title": "x""#,
                "\"page\" is no action"
            ),
            (#""action": {"from": "s", "words": {}}, "title": "x""#, "\"from\" must be a text with a placeholder"),
            (
                #""action": {"from": "{s}", "words": {}, "els": 1}, "title": "x""#,
                "\"els\" means nothing beside \"from\""
            ),
            (#""action": "log", "title": "x", "priority": 6"#, "priority: 6 is no priority. Write 1 (min) to 5"),
            (#""action": "log", "title": "x", "severity": "purple""#, "no severity that is known"),
            (#""action": "log", "title": "x", "priority": 1, "severity": "info""#, "say the same"),
            (#""action": "log", "title": "x", "labels": []"#, "labels: it must be an object of texts"),
            (#""action": "log", "title": "x", "tags": 1"#, "\"tags\" means nothing here. Known are action"),
            (#""action": "log", "title": "{a""#, "title: \"{a\" has a brace without its other half at character 2"),
            (#""action": "log", "title": "a}""#, "brace without its other half at character 2"),
            (#""action": "log", "title": "{}""#, "{} is no placeholder at character 2. Write {member.member}"),
            (#""action": "log", "title": "{a b}""#, "{a b} is no placeholder at character 4"),
            (#""action": "log", "title": "{a..b}""#, "no placeholder"),
            (#""action": "log", "title": "{a | shout}""#, "there is no filter \"shout\". Known are after, ago"),
            (#""action": "log", "title": "{a | first}""#, "the filter first is written first 3"),
            (#""action": "log", "title": "{a | first -1}""#, "a whole number from 0 to 65536, not \"-1\""),
            (#""action": "log", "title": "{a | upper 3}""#, "takes nothing behind it"),
            (#""action": "log", "title": "{a | word 3}""#, "takes pairs"),
            (#""action": "log", "title": "{a | time \"Mars/Dome\"}""#, "no time zone \"Mars/Dome\" here"),
            (#""action": "log", "title": "{a | upper ?? b}""#, "?? behind a filter"),
            (#""action": "log", "title": "{a ?? \"x}""#, "quote without its other half"),
            (
                #""action": "log", "title": "{header}""#,
                "needs a name behind it, like {header.name}. For a member of this name write {/header}"
            ),
            (#""action": "log", "title": "{body.x}""#, "write {/body/…}"),
            (#""action": "log", "title": "{path.x}""#, "Write {path.1}"),
            (#""action": "log", "title": "{$then}""#, "Write {$now}"),
            (#""action": "log", "title": "{integration.id}""#, "Write {integration.name}"),
            (#""action": "log", "title": "{/a~2b}""#, "Write ~0 for ~"),
            (#""action": "log", "title": "{.name}""#, "stands outside of a list. Write \"each\""),
        ]
    )
    func events(members: String, words: String) {
        let problem = Self.problem(Self.event(members))
        #expect(problem.hasPrefix("rule 1: ") && problem.contains(words), "\(problem)")
    }

    @Test("a receiver has at most 200 places")
    func places() {
        let title = String(repeating: "{a}", count: 201)
        #expect(Self.problem(Self.event(#""action": "log", "title": "\#(title)""#)).contains("201 places; at most 200"))
    }

    @Test("conditions stand in each other at most 8 deep")
    func depth() {
        let nots =
            String(repeating: #"{"not": "#, count: 20) + #"{"place": "{a}", "is": 1}"#
            + String(repeating: "}", count: 20)
        #expect(Self.problem(#"{"rules": [{"when": \#(nots), "event": {}}]}"#).contains("more than 8 deep"))
    }

    @Test(
        "a file of receivers tells the file and the receiver",
        arguments: [
            ("{", "mine.json is not JSON"), ("[]", "mine.json: a file of receivers is an object"),
            (#"{"receivers": [{"rules": []}]}"#, "mine.json: receiver 1: \"name\" is missing"),
            (
                #"{"receivers": [{"name": "x", "rules": [{"event": {"action": "a", "title": "b"}}]}]}"#,
                "mine.json: receiver x: rule 1: event: action: \"a\" is no action"
            ),
            (
                #"{"receivers": [{"name": "x", "rules": []}, {"name": "x", "rules": []}]}"#,
                "receiver x: another receiver"
            ),
        ]
    )
    func files(text: String, words: String) {
        let reading = ReceiverReading(text, file: "mine.json", zones: TemplateSite.zones)
        #expect(reading.problems.count == 1)
        #expect(reading.problems.first?.contains(words) == true, "\(reading.problems)")
    }

    @Test("an own receiver stands in place of a shipped one of its name")
    func catalog() throws {
        let own = ReceiverReading(
            #"{"receivers": [{"name": "github", "about": "Ours", "rules": []}]}"#,
            file: "mine.json",
            zones: TemplateSite.zones
        )
        let catalog = ReceiverCatalog(
            shipped: TemplateSite.shipped.receivers,
            own: own.receivers,
            zones: TemplateSite.zones
        )
        #expect(catalog.names.count == 16)
        #expect(try catalog.receiver(named: "github", template: nil).template.about == "Ours")
        #expect(try catalog.receiver(named: nil, template: #"{"rules": []}"#).template.name == "template")
        #expect(throws: TemplateProblem.self) { try catalog.receiver(named: "nobody", template: nil) }
        #expect(throws: TemplateProblem.self) { try catalog.receiver(named: nil, template: "{") }
        #expect(throws: TemplateProblem.self) { try catalog.receiver(named: nil, template: nil) }
    }
}
