import JSON
import Testing
import TocsinCore
import TocsinReceivers

@Suite("Rules of a receiver")
struct TemplateRuleTests {
    private static func titles(_ template: String, _ body: String) throws -> [String] {
        let receiver = TemplateReceiver(try TemplateSite.template(template))
        switch receiver.read(TemplateSite.request(body), in: TemplateSite.context()) {
        case .events(let events, _): return events.map { $0.action == .ignore ? "ignored" : $0.title }
        case .refused: return ["refused"]
        case .answered: return ["answered"]
        }
    }

    @Test(
        "a condition holds for what it names",
        arguments: [
            (#"{"place": "{s}", "is": ["down"]}"#, true), (#"{"place": "{s}", "is": "DOWN"}"#, true),
            (#"{"place": "{s}", "is": ["up", 3]}"#, false), (#"{"place": "{n}", "is": [3]}"#, true),
            (#"{"place": "{n}", "is": ["3"]}"#, true), (#"{"place": "{none}", "is": [null]}"#, true),
            (#"{"place": "{s}", "like": "d*n"}"#, true), (#"{"place": "{s}", "like": ["x", "d??n"]}"#, true),
            (#"{"place": "{s}", "like": "d?n"}"#, false), (#"{"place": "{s}", "like": "*"}"#, true),
            (#"{"place": "{s}", "exists": true}"#, true), (#"{"place": "{none}", "exists": true}"#, false),
            (#"{"place": "{empty}", "exists": false}"#, true), (#"{"place": "{n}", "above": 2.5}"#, true),
            (#"{"place": "{n}", "above": 3}"#, false), (#"{"place": "{s}", "above": 1}"#, false),
            (#"{"not": {"place": "{s}", "is": "up"}}"#, true),
            (#"{"any": [{"place": "{s}", "is": "up"}, {"place": "{n}", "is": 3}]}"#, true),
            (#"[{"place": "{s}", "is": "down"}, {"place": "{n}", "is": 4}]"#, false), ("[]", true),
            (#"{"place": "{s ?? n}", "is": "down"}"#, true), (#"{"place": "{s | upper | first 1}", "is": "d"}"#, true),
        ]
    )
    func conditions(condition: String, holds: Bool) throws {
        let template =
            #"{"rules": [{"when": \#(condition), "event": {"action": "log", "title": "yes"}}], "else": "ignore"}"#
        #expect(try Self.titles(template, #"{"s": "down", "n": 3, "empty": ""}"#) == [holds ? "yes" : "ignored"])
    }

    @Test("the first rule that holds makes the event")
    func firstRule() throws {
        let template = """
            {"rules": [{"when": {"place": "{n}", "above": 1}, "event": {"action": "log", "title": "one"}},
                       {"event": {"action": "log", "title": "two"}}, {"event": {"action": "log", "title": "three"}}]}
            """
        #expect(try Self.titles(template, #"{"n": 2}"#) == ["one"])
        #expect(try Self.titles(template, #"{"n": 1}"#) == ["two"])
    }

    @Test(
        "what no rule is for is a message, ignored or refused",
        arguments: [("log", "Hi"), ("ignore", "ignored"), ("refuse", "refused")]
    )
    func otherwise(word: String, title: String) throws {
        #expect(try Self.titles(#"{"rules": [], "else": "\#(word)"}"#, #"{"title": "Hi", "message": "x"}"#) == [title])
    }

    @Test("a refused request is answered with 422")
    func refused() throws {
        let receiver = TemplateReceiver(try TemplateSite.template(#"{"rules": [], "else": "refuse"}"#))
        let request = TemplateSite.request("{}")
        guard case .refused(let fault) = receiver.read(request, in: TemplateSite.context()) else {
            Issue.record("it was taken")
            return
        }
        #expect(receiver.answer(fault, to: request).status == 422)
    }

    @Test(
        "a list makes one event for each item, whichever rule is for it",
        arguments: [
            (#"{"alerts": [{"n": "a", "s": "firing"}, null, {"n": "b", "s": "ok"}]}"#, ["a of x fires", "b is over"]),
            (#"{"alerts": []}"#, ["ignored"]), (#"{"alerts": {"n": "one", "s": "firing"}}"#, ["one of x fires"]),
            (#"{"n": "whole", "s": "ok"}"#, ["whole is over"]),
        ]
    )
    func lists(body: String, titles: [String]) throws {
        let template = """
            {"each": "{alerts}", "rules": [
              {"when": {"place": "{.s}", "is": "firing"}, "event": {"action": "trigger", "key": "{.n}", "title": "{.n} of {source ?? \\"x\\"} fires"}},
              {"event": {"action": "resolve", "key": "{.n}", "title": "{.n} is over"}}]}
            """
        #expect(try Self.titles(template, body) == titles)
    }

    @Test("a list of one rule does the same, and no more than 1,000 items are taken")
    func longList() throws {
        let template = #"{"rules": [{"each": "{a}", "event": {"action": "log", "title": "{.}"}}]}"#
        #expect(try Self.titles(template, #"{"a": ["x", "y"]}"#) == ["x", "y"])
        let receiver = TemplateReceiver(try TemplateSite.template(template))
        let body = #"{"a": [\#((1...1200).map(String.init).joined(separator: ","))]}"#
        guard
            case .events(let events, let notes) = receiver.read(TemplateSite.request(body), in: TemplateSite.context())
        else {
            Issue.record("it was refused")
            return
        }
        #expect(events.count == 1000)
        #expect(notes == ["rule 1: {a} has 1200 items; the first 1000 were taken"])
    }

    @Test(
        "what does not fit is kept as far as it goes, and told with rule and place",
        arguments: [
            (
                #""action": "{s}", "title": "T""#, "log T",
                #"rule 1: "action" ({s}) became "sideways", which is none of"#
            ),
            (#""action": "resolve", "title": "T", "key": "k/{none}""#, "log T", #"rule 1: "key" ({none}) is empty"#),
            (#""action": "trigger", "title": "{none}""#, "trigger Monitoring", #"rule 1: "title" ({none}) is empty"#),
            (#""action": "log", "title": "T", "priority": "{nine}""#, "log T", "none of 1 to 5"),
            (#""action": "log", "title": "T", "severity": "{s}""#, "log T", "sideways"),
            (#""action": "log", "title": "T", "occurredAt": "{s}""#, "log T", "no time"),
            (#""action": "log", "title": "T", "labels": "{s}""#, "log T", "no object"),
        ]
    )
    func trouble(members: String, event: String, words: String) throws {
        let receiver = TemplateReceiver(try TemplateSite.template(#"{"rules": [{"event": {\#(members)}}]}"#))
        let request = TemplateSite.request(#"{"s": "sideways", "nine": 9}"#)
        guard case .events(let events, let notes) = receiver.read(request, in: TemplateSite.context()) else {
            Issue.record("it was refused")
            return
        }
        #expect(events.map { "\($0.action) \($0.title)" } == [event])
        #expect(notes.count == 1 && notes[0].contains(words), "\(notes)")
        if members.contains("action\": \"{s}") { #expect(events[0].body.contains("sideways")) }
    }

    @Test("a request that costs too much becomes a plain message with what was sent")
    func budget() throws {
        let receiver = TemplateReceiver(
            try TemplateSite.template(
                #"{"rules": [{"each": "{a}", "event": {"action": "trigger", "key": "{.}", "title": "{body | upper | lower}"}}]}"#
            )
        )
        let text = String(repeating: "x", count: 200_000)
        let body =
            #"{"a": [\#((1...900).map(String.init).joined(separator: ","))], "title": "Kept", "text": "\#(text)"}"#
        guard
            case .events(let events, let notes) = receiver.read(TemplateSite.request(body), in: TemplateSite.context())
        else {
            Issue.record("it was refused")
            return
        }
        #expect(events.map(\.action) == [.log])
        #expect(events.map(\.title) == ["Kept"])
        #expect(notes.first?.contains("budget of 200000 steps") == true, "\(notes)")
    }

    @Test("a body that says it is JSON and is none is kept as text, with the reason")
    func broken() throws {
        let receiver = TemplateReceiver(try TemplateSite.template(#"{"rules": []}"#))
        guard
            case .events(let events, let notes) = receiver.read(
                TemplateSite.request("{broken"),
                in: TemplateSite.context()
            )
        else {
            Issue.record("it was refused")
            return
        }
        #expect(events.map(\.body) == ["{broken"])
        #expect(notes.first?.contains("no JSON") == true)
    }

    @Test(
        "a signature counts in each form, and a wrong or missing one is refused",
        arguments: [
            (#"{"header": "X-Sig", "prefix": "sha256=", "form": "hex"}"#, "sha256=6b6579626f6479", true),
            (#"{"header": "X-Sig", "prefix": "sha256=", "form": "hex"}"#, "sha256=6b6579626f6478", false),
            (#"{"header": "X-Sig", "prefix": "sha256=", "form": "hex"}"#, "6b6579626f6479", false),
            (#"{"header": "X-Sig", "form": "base64"}"#, "a2V5Ym9keQ==", true),
            (#"{"header": "X-Sig", "form": "base64"}"#, "", false),
            (#"{"header": "X-Sig", "form": "secret"}"#, "key", true),
            (#"{"header": "X-Sig", "form": "secret"}"#, "kex", false),
        ]
    )
    func signatures(rule: String, header: String, isTaken: Bool) throws {
        let receiver = TemplateReceiver(try TemplateSite.template(#"{"signature": \#(rule), "rules": []}"#))
        let request = TemplateSite.request("body", headers: ["x-sig": header])
        let reading = receiver.read(request, in: TemplateSite.context(secret: Array("key".utf8)))
        if isTaken {
            guard case .events = reading else {
                Issue.record("\(reading)")
                return
            }
        } else {
            #expect(reading == .refused(.unauthenticated))
        }
    }
}
