import Foundation
import JSON
import Testing
import TocsinCore
import TocsinReceivers

/// Whatever strangers send becomes bounded events or a clear refusal, and never ends the process.
@Suite("Hostile input")
struct HostileInputTests {
    static let kinds = Integration.Kind.allCases.filter { Receivers.of($0) != nil }

    private static let nested = String(repeating: "[", count: 100_000)
    private static let wide = "[" + String(repeating: "0,", count: 300_000) + "0]"

    static let bodies: [(String, [UInt8])] = [
        ("nothing", []), ("spaces", Array("  \n ".utf8)), ("NUL", [0, 0, 0]), ("bad UTF-8", [0xFF, 0xFE, 0x7B, 0xC0]),
        ("null", Array("null".utf8)), ("a number", Array("12".utf8)), ("a text", Array("\"a\"".utf8)),
        ("a list", Array("[]".utf8)), ("a list of lists", Array("[[],[]]".utf8)), ("an object", Array("{}".utf8)),
        ("100,000 brackets", Array(nested.utf8)), ("depth in a member", Array("{\"alerts\":\(nested)".utf8)),
        ("300,000 values", Array(wide.utf8)), ("half an object", Array("{\"a\":".utf8)),
        ("a huge number", Array("{\"priority\":1e999}".utf8)),
        ("a long number", Array("{\"priority\":\(String(repeating: "9", count: 900))}".utf8)),
        ("lone surrogates", Array(#"{"title":"\ud800","message":"\udfff\ud83d\ude00","text":"\ud800"}"#.utf8)),
        ("one boundary", Array("Content-Type: multipart/mixed; boundary=\n\n--\n--\n".utf8)),
        ("a mark of order", [0xEF, 0xBB, 0xBF] + Array("{\"title\":\"a\",\"message\":\"a\"}".utf8)),
        (
            "many parts",
            Array("Content-Type: multipart/mixed; boundary=b\n\n\(String(repeating: "--b\n\nx\n", count: 5000))".utf8)
        ),
    ]

    @Test("a strange body gives events or a refusal with a status below 500", arguments: kinds)
    func strange(kind: Integration.Kind) throws {
        let types = [
            "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "text/plain",
        ]
        for (name, body) in Self.bodies {
            for type in types.prefix(body.count > 10_000 ? 1 : 4) {
                try check(kind, Sample.request(headers: [("Content-Type", type)], bytes: body), name)
            }
        }
    }

    @Test("members of every wrong type are taken or refused", arguments: kinds)
    func wrongTypes(kind: Integration.Kind) throws {
        let values = [
            "null", "true", "-1", "1e300", "1.5", "\"\"", "\"a\"", "[]", "{}", "[null]", "[[1]]", "{\"a\":{\"b\":[]}}",
        ]
        for member in Self.members {
            for value in values {
                try check(kind, Sample.request(body: "{\"\(member)\":\(value)}"), "\(member): \(value)")
                for outer in ["payload", "alerts", "attachments", "blocks", "heartbeat"] {
                    let groups = "\"groupKey\":\"g\",\"event_action\":\"trigger\",\"text\":\"t\",\"message\":\"m\""
                    let inner =
                        outer == "payload"
                        ? "{\"summary\":\"s\",\"\(member)\":\(value)}" : "[{\"\(member)\":\(value)},\(value)]"
                    try check(
                        kind,
                        Sample.request(body: "{\(groups),\"\(outer)\":\(inner)}"),
                        "\(outer).\(member): \(value)"
                    )
                }
            }
        }
    }

    static let members = [
        "action", "key", "title", "body", "message", "text", "priority", "severity", "labels", "data", "links", "alert",
        "alerts", "groupKey", "status", "commonLabels", "annotations", "startsAt", "endsAt", "values",
        "truncatedAlerts",
        "event_action", "dedup_key", "payload", "custom_details", "timestamp", "images", "extras", "tags", "actions",
        "delay", "topic", "attachments", "blocks", "fields", "color", "ts", "type", "elements", "specversion", "id",
        "source", "time", "incident", "data_base64", "fingerprint", "occurredAt",
    ]

    @Test("huge texts and counts are cut to what may be stored", arguments: kinds)
    func huge(kind: Integration.Kind) throws {
        let text = String(repeating: "e\u{301}\u{302}", count: 20_000) + String(repeating: "\u{301}", count: 50_000)
        let many = (0..<3000).map { "\"l\($0)\":\"v\"" }.joined(separator: ",")
        let alert =
            "{\"status\":\"firing\",\"labels\":{\(many),\"alertname\":\"\(text)\"},\"annotations\":{\"summary\":\"\(text)\"}}"
        let alerts = String(repeating: "{\"status\":\"firing\",\"labels\":{\"a\":\"b\"}},", count: 3000)
        let bodies = [
            "{\"title\":\"\(text)\",\"body\":\"\(text)\",\"message\":\"\(text)\",\"text\":\"\(text)\",\"labels\":{\(many)},\"data\":{\(many)}}",
            "{\"groupKey\":\"\(text)\",\"alerts\":[\(alert),\(alerts)null],\"truncatedAlerts\":99999999999999999999}",
            "{\"event_action\":\"trigger\",\"payload\":{\"summary\":\"\(text)\",\"source\":\"\(text)\",\"custom_details\":{\(many)}}}",
            "{\"specversion\":\"1.0\",\"id\":\"\(text)\",\"source\":\"\(text)\",\"type\":\"\(text)\",\"data\":\"\(text)\"}",
            "Subject: \(text)\nMessage-ID: \(text)\nX-Tocsin-Incident: \(text)\n\n\(text)",
        ]
        for body in bodies {
            try check(kind, Sample.request(body: body), "huge")
            try check(
                kind,
                Sample.request("POST", "/alerts", headers: [("Title", text), ("Tags", text)], body: "x"),
                "huge header"
            )
        }
    }

    @Test("bytes of chance, and recorded requests with some changed, never end the process")
    func chance() throws {
        let seed =
            ProcessInfo.processInfo.environment["TOCSIN_TEST_SEED"].flatMap(UInt64.init)
            ?? UInt64.random(in: 1...UInt64.max)
        var random = SeededRandom(state: seed)
        let recorded = try RecordedRequestTests.names.map { name in
            let data = try Data(contentsOf: RecordedRequestTests.folder.appending(path: name))
            return try #require(JSONParser.parse(Array(data))["request"]?["body"]?.stringValue).utf8
        }
        for _ in 0..<1500 {
            var body =
                Bool.random(using: &random)
                ? Array(recorded.randomElement(using: &random) ?? "".utf8)
                : (0..<Int.random(in: 0..<200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            for _ in 0..<Int.random(in: 1...8, using: &random) where !body.isEmpty {
                let index = Int.random(in: 0..<body.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: body[index] = UInt8.random(in: 0...255, using: &random)
                case 1: body.remove(at: index)
                case 2: body.insert(contentsOf: body[index..<min(body.count, index + 20)], at: index)
                default: body[index] = Array("{}[]\",:=?<>&\\%-\n".utf8).randomElement(using: &random) ?? 0
                }
            }
            let kind = try #require(Self.kinds.randomElement(using: &random))
            let target =
                ["/in/x", "/", "/alerts", "/v2/enqueue", "/message", "/alerts/s/clear"].randomElement(using: &random)
                ?? "/"
            try check(
                kind,
                Sample.request(
                    "POST",
                    target,
                    headers: [("Actions", header(body)), ("Delay", header(body))],
                    bytes: body
                ),
                "seed \(seed)"
            )
            try check(kind, Sample.request("POST", target, bytes: body), "seed \(seed)")
        }
    }

    private func header(_ body: [UInt8]) -> String { String(String(decoding: body.prefix(100), as: UTF8.self)) }

    private func check(_ kind: Integration.Kind, _ request: ReceiverRequest, _ words: String) throws {
        let receiver = try #require(Receivers.of(kind))
        _ = SenderKeys.find(in: request, kind: kind)
        let isGrouped = [.alertmanager, .grafana, .slack].contains(kind) && request.body.count < 10_000
        for grouping in isGrouped ? Integration.Grouping.allCases : [Sample.integration(kind).grouping] {
            switch receiver.read(request, in: Sample.context(kind, grouping: grouping)) {
            case .events(let events, let notes):
                for event in events {
                    try #require(
                        Self.isBounded(event),
                        "\(kind) \(words): \(EventText.json(event).serializedString().prefix(2000))"
                    )
                }
                #expect(notes.count <= 100)
                let answer = receiver.answer(Sample.accepted(events, Sample.integration(kind)), to: request)
                #expect((200..<300).contains(answer.status), "\(kind) \(words)")
            case .refused(let fault):
                let answer = receiver.answer(fault, to: request)
                #expect((400..<500).contains(answer.status), "\(kind) \(words)")
                #expect(!answer.body.isEmpty, "\(kind) \(words)")
            case .answered(let answer): #expect(answer.status < 500)
            }
        }
    }

    private static func isBounded(_ event: SenderEvent) -> Bool {
        let texts = [event.title, event.body, event.key ?? "", event.messageKey ?? "", event.collapseKey ?? ""]
        return (([.trigger, .log].contains(event.action) ? 1 : 0)...1024).contains(event.title.utf8.count)
            && event.body.utf8.count <= 65_536
            && (event.key ?? "k").unicodeScalars.count <= 512 && event.key != ""
            && (event.messageKey ?? "").utf8.count <= 256
            && (event.collapseKey ?? "").utf8.count <= 256
            && event.labels.count <= 64
            && event.labels.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } <= 8192
            && event.data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } <= 16_384
            && event.links.count <= 10 && event.alerts.count <= 1000 && (1...5).contains(event.priority ?? 1)
            && event.buttons.count <= 3 && texts.allSatisfy { !$0.unicodeScalars.contains("\0") }
    }
}

/// SplitMix64.
private struct SeededRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
