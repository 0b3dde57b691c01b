import Testing
import TocsinCore
import TocsinReceivers

@Suite("Slack's shape")
struct SlackTests {
    @Test(
        "markup becomes plain text",
        arguments: [
            ("*bold* _it_ ~no~ `code`", "bold it no code"), ("snake_case_name 2*3*4", "snake_case_name 2*3*4"),
            ("<https://a.example|the site>", "the site"), ("<https://a.example>", "https://a.example"),
            ("<mailto:a@b.c|a@b.c> <mailto:d@e.f>", "a@b.c d@e.f"),
            ("<!here> <!channel> <!date^1^x|now>", "@here @channel now"),
            ("<@U1|ann> <@U2> <#C1|ops>", "@ann @U2 #ops"), ("a &lt;b&gt; &amp;amp;", "a <b> &amp;"),
            ("a < b > c", "a  b  c"),
            ("1 < 2", "1 < 2"), (":fire: 10:30:00 :nope:", "🔥 10:30:00 :nope:"), ("* not bold *", "* not bold *"),
            ("**", "**"),
            ("*", "*"), ("", ""), ("```\n*a*\n```", "\na\n"),
        ]
    )
    func markup(text: String, expected: String) {
        #expect(SlackMarkup.plain(text) == expected)
    }

    @Test(
        "a colour says how bad it is",
        arguments: [
            ("danger", 4), ("warning", 3), ("good", 2), ("#D63232", 4), ("#36a64f", nil), ("blue", nil), ("#fff", nil),
        ] as [(String, Int?)]
    )
    func colours(colour: String, priority: Int?) throws {
        let request = Sample.request(body: #"{"attachments":[{"title":"t","color":"\#(colour)"}]}"#)
        #expect(try #require(Sample.read(.slack, request).first).priority == priority)
    }

    @Test(
        "what says nothing is no_text, what cannot be read invalid_payload",
        arguments: [
            ("{}", "no_text"), (#"{"text":" "}"#, "no_text"), (#"{"attachments":[{}],"blocks":[]}"#, "no_text"),
            ("", "invalid_payload"), ("[]", "invalid_payload"), ("payload=%7B", "invalid_payload"),
        ]
    )
    func refused(body: String, word: String) throws {
        let fault = try #require(Sample.read(.slack, Sample.request(body: body)).fault)
        #expect(SlackReceiver().answer(fault, to: Sample.request()) == ReceiverAnswer(400, text: word))
    }

    @Test("with grouping a title is the same whether it fires or is resolved")
    func grouping() throws {
        func event(_ title: String, _ more: String = "") throws -> SenderEvent {
            let body = #"{"attachments":[{"title":"\#(title)"\#(more)}]}"#
            return try #require(Sample.read(.slack, Sample.request(body: body), grouping: .group).first)
        }
        #expect(try event("[FIRING:2] Disk").key == "Disk" && event("[FIRING:2] Disk").action == .trigger)
        #expect(try event("[RESOLVED] Disk").key == "Disk" && event("[RESOLVED] Disk").action == .resolve)
        let link = #","color":"good","title_link":"https://a.example/1""#
        #expect(try event("Up", link).key == "https://a.example/1" && event("Up", link).action == .resolve)
    }

    @Test("faults are words of Slack's, and never 429")
    func faults() {
        let receiver = SlackReceiver()
        #expect(receiver.answer(.unauthenticated, to: Sample.request()) == ReceiverAnswer(403, text: "invalid_token"))
        #expect(receiver.answer(.rateLimited(retryAfterSeconds: 4), to: Sample.request()).status == 503)
        #expect(receiver.answer(.rateLimited(retryAfterSeconds: 4), to: Sample.request()).header("Retry-After") == "4")
        #expect(receiver.answer(.tooLarge(), to: Sample.request()).status == 413)
    }
}
