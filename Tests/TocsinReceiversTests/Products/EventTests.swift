import Testing
import TocsinCore
import TocsinReceivers

@Suite("Native events")
struct EventTests {
    private func refusal(_ request: ReceiverRequest) -> ReceiverAnswer? {
        Sample.read(.event, request).fault.map { EventReceiver().answer($0, to: request) }
    }

    @Test(
        "what cannot be understood is refused in a sentence that says what to do",
        arguments: [
            ("", "The body is empty."), ("{", "The body is not JSON: "),
            ("[1]", "Each member of the list must be an object."),
            (#"{"action":"explode"}"#, "'action' must be one of trigger, acknowledge, resolve, log, ping, ignore"),
            (#"{"action":"resolve"}"#, "'key' is missing"),
            (#"[{"title":"a"},{"action":"acknowledge"}]"#, "events[1]: 'key' is missing"),
            (#"{"key":"\#(String(repeating: "k", count: 513))"}"#, "'key' is longer than 512 characters."),
        ]
    )
    func refused(body: String, words: String) throws {
        let request = Sample.request(body: body)
        let answer = try #require(refusal(request))
        #expect(
            answer.status == 400 && answer.text.hasPrefix(#"{"error":{"code":"BAD_USER_INPUT","message":"\#(words)"#),
            "\(answer.text)"
        )
    }

    @Test("a thousand events are taken, one more is not")
    func many() {
        let list = { (count: Int) in
            "[" + Array(repeating: #"{"title":"t"}"#, count: count).joined(separator: ",") + "]"
        }
        #expect(Sample.read(.event, Sample.request(body: list(1000))).events?.count == 1000)
        #expect(refusal(Sample.request(body: list(1001)))?.status == 400)
    }

    @Test("a body that is no JSON is the text of a trigger, with the query's fields")
    func text() throws {
        let request = Sample.request(
            "POST",
            "/in/event?key=k&severity=fatal",
            headers: [("Content-Type", "text/plain")],
            body: "Disk full\n91 %"
        )
        let event = try #require(Sample.read(.event, request).first)
        #expect(event.action == .trigger && event.key == "k" && event.priority == 5 && event.title == "Disk full")
    }

    @Test(
        "JSON from scripts is read with its mistakes",
        arguments: [
            ("{\"title\":\"a\nb\"}", "a b"), ("\u{FEFF}{\"title\":\"x\"}", "x"),
            (#"{"title":"\ud83d\ude00 \ud800"}"#, "😀 \u{FFFD}"),
            (#"{"title":"one","title":"two"}"#, "two"),
        ]
    )
    func lenient(body: String, title: String) throws {
        #expect(try #require(Sample.read(.event, Sample.request(body: body)).first).title == title)
    }

    @Test("invalid UTF-8 is replaced")
    func invalid() throws {
        let bytes = Array(#"{"title":"a"#.utf8) + [0xFF] + Array(#"b"}"#.utf8)
        #expect(try #require(Sample.read(.event, Sample.request(bytes: bytes)).first).title == "a\u{FFFD}b")
    }

    @Test("texts are cut at a character, and lose their control characters")
    func texts() throws {
        let long = String(repeating: "👩‍👩‍👧", count: 5000)
        let body = #"{"title":"\#(long)","body":"\u0000a\u001b[31m\r\nb\#(long)"}"#
        let event = try #require(Sample.read(.event, Sample.request(body: body)).first)
        #expect(event.title.utf8.count <= 1024 && event.title.allSatisfy { $0 == "👩‍👩‍👧" })
        #expect(event.body.hasPrefix("a[31m\nb👩‍👩‍👧") && event.body.hasSuffix("👩‍👩‍👧…") && event.body.utf8.count <= 65_536)
    }

    @Test(
        "addresses that run something are left out",
        arguments: [
            ("https://a.example/x", "https://a.example/x"), ("HTTPS://a.example", "https://a.example"),
            ("app://open/1", "app://open/1"),
            ("javascript://%0aalert(1)", nil), ("data://x", nil), ("file:///etc/passwd", nil), ("https://", nil),
            ("a b", nil),
            ("https://a.example//b//c?d=//e", "https://a.example/b/c?d=//e"),
        ] as [(String, String?)]
    )
    func addresses(url: String, expected: String?) throws {
        let event = try #require(Sample.read(.event, Sample.request(body: #"{"title":"t","url":"\#(url)"}"#)).first)
        #expect(event.url == expected)
    }

    @Test("the title falls back to the body, then to the integration's name")
    func titles() throws {
        #expect(
            try #require(Sample.read(.event, Sample.request(body: #"{"body":"\n\n one\ntwo"}"#)).first).title == "one"
        )
        #expect(try #require(Sample.read(.event, Sample.request(body: #"{"key":"k"}"#)).first).title == "Monitoring")
    }

    @Test(
        "each fault has its status, its code and its headers",
        arguments: [
            (ReceiverFault.unauthenticated, 401, "UNAUTHENTICATED"), (.badInput(["x"]), 400, "BAD_USER_INPUT"),
            (.tooLarge(), 413, "LIMIT"), (.rateLimited(retryAfterSeconds: 9), 429, "LIMIT"),
            (.unsupportedType, 415, "BAD_USER_INPUT"),
            (.unavailable(retryAfterSeconds: 9), 503, "UNAVAILABLE"), (.methodNotAllowed, 405, "BAD_USER_INPUT"),
            (.notFound, 404, "NOT_FOUND"),
        ] as [(ReceiverFault, Int, String)]
    )
    func faults(fault: ReceiverFault, status: Int, code: String) {
        let answer = EventReceiver().answer(fault, to: Sample.request())
        #expect(answer.status == status && answer.text.hasPrefix(#"{"error":{"code":"\#(code)","message":""#))
        #expect((answer.header("Retry-After") == "9") == [429, 503].contains(status))
        #expect((answer.header("Allow") == "POST") == (status == 405))
    }
}
