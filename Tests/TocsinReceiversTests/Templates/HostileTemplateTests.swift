import JSON
import Testing
import TocsinCore
import TocsinReceivers

/// The same numbers for the same seed.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}

@Suite("Hostile bodies to templates")
struct HostileTemplateTests {
    /// How many events there are; each within its bounds.
    private static func events(_ template: ReceiverTemplate, _ request: ReceiverRequest) -> Int {
        switch TemplateReceiver(template).read(request, in: TemplateSite.context()) {
        case .events(let events, let notes):
            for event in events {
                #expect(event.title.utf8.count <= 1024 && event.body.utf8.count <= 65_536)
                #expect(event.labels.count <= 64 && event.priority.map { (1...5).contains($0) } ?? true)
                #expect((event.key?.unicodeScalars.count ?? 1) <= 512)
                #expect(event.action == .ignore || !event.title.isEmpty)
            }
            #expect(notes.count <= 40 && notes.allSatisfy { $0.utf8.count < 4096 })
            return events.count
        case .refused, .answered: return 0
        }
    }

    @Test("every shipped receiver makes an event of any body", arguments: TemplateSite.shipped.receivers.map(\.name))
    func shapes(name: String) throws {
        let template = try #require(TemplateSite.shipped.receivers.first { $0.name == name })
        let megabyte = String(repeating: "é", count: 1 << 18)
        let deep = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
        let bodies = [
            "", "null", "0", "[]", "{}", "\"text\"", "{", "\u{0}", deep, "[\(deep)]",
            #"{"Message": "{\"NewStateValue\": {\"a\": [1]}, \"AlarmName\": 1e308}"}"#,
        ]
        for body in bodies {
            for type in ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"] {
                let request = TemplateSite.request(body, headers: ["Content-Type": type, "X-GitHub-Event": "push"])
                #expect(Self.events(template, request) >= 1, "\(name) \(type) \(body.prefix(40))")
            }
        }
        let large = [
            #"{"title": "x", "message": "\#(megabyte)", "head_commit": {"message": "\#(megabyte)"}}"#,
            #"{"heartbeat": "\#(megabyte)", "incident": [], "data": 1, "alerts": {}, "build": [[]], "app": null}"#,
            #"{"message": [\#(String(repeating: "1,", count: 20_000))1]}"#,
        ]
        for body in large {
            let headers = ["Content-Type": "application/json", "X-GitHub-Event": "push"]
            #expect(Self.events(template, TemplateSite.request(body, headers: headers)) >= 1, "\(name)")
        }
    }

    @Test("recorded requests with random bytes changed still make an event", arguments: [1, 2] as [UInt64])
    func mutations(seed: UInt64) throws {
        var random = SeededGenerator(state: seed)
        for recorded in RecordedRequest.all {
            guard let template = TemplateSite.shipped.receivers.first(where: { $0.name == recorded.receiver }) else {
                continue
            }
            var body = recorded.body
            guard !body.isEmpty else { continue }
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let index = Int.random(in: 0..<body.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: body[index] = UInt8.random(in: 0...255, using: &random)
                case 1 where body.count > 1: body.remove(at: index)
                case 2: body.insert(contentsOf: body.prefix(8), at: index)
                default: body[index] = Array("{}[]\",:0".utf8).randomElement(using: &random) ?? 0
                }
            }
            let request = recorded.request(with: body)
            #expect(Self.events(template, request) >= 1, "seed \(seed), \(recorded.testDescription)")
        }
    }

    @Test("random texts are compiled or refused with a reason, and never run away", arguments: [5, 6] as [UInt64])
    func randomTemplates(seed: UInt64) throws {
        var random = SeededGenerator(state: seed)
        let pieces = [
            "{", "}", "a", ".", "/", "|", "??", "\"", " ", "first", "3", "$now", "header", "{{", "~", "\\", "word", "=",
            "-1",
            "join", "{a | replace \"a\" \"aaaaaaaa\" | replace \"a\" \"aaaaaaaa\" | replace \"a\" \"aaaaaaaa\"}", "é",
        ]
        let request = TemplateSite.request(#"{"a": "\#(String(repeating: "a", count: 20_000))"}"#)
        for _ in 0..<600 {
            let text = (0..<Int.random(in: 1...8, using: &random)).map { _ in pieces.randomElement(using: &random) ?? ""
            }
            .joined()
            let members: JSONValue = ["rules": [["event": ["action": "log", "title": "t", "body": .string(text)]]]]
            do throws(TemplateProblem) {
                let template = try ReceiverTemplate(members, zones: TemplateSite.zones)
                #expect(Self.events(template, request) == 1)
            } catch {
                #expect(error.text.hasPrefix("rule 1: event: body: "), "\(text): \(error.text)")
            }
        }
    }
}
