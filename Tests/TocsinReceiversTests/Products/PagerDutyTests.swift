import Testing
import TocsinCore
import TocsinReceivers

@Suite("PagerDuty's shape")
struct PagerDutyTests {
    private static let receiver = PagerDutyReceiver()

    @Test(
        "an event that lacks something is refused by the member's name",
        arguments: [
            ("{}", "'event_action' must be one of trigger, acknowledge, resolve"),
            (#"{"event_action":"TRIGGER"}"#, "'event_action' must be one of trigger, acknowledge, resolve"),
            (#"{"event_action":"trigger"}"#, "'payload.summary' is missing or blank"),
            (#"{"event_action":"trigger","payload":{"summary":"  "}}"#, "'payload.summary' is missing or blank"),
            (#"{"event_action":"resolve"}"#, "'dedup_key' is missing or blank"),
            (#"{"event_action":"acknowledge","dedup_key":""}"#, "'dedup_key' is missing or blank"),
            (
                #"{"event_action":"resolve","dedup_key":"\#(String(repeating: "k", count: 256))"}"#,
                "'dedup_key' is longer than 255 characters"
            ),
        ]
    )
    func refused(body: String, words: String) throws {
        let request = Sample.request("POST", "/v2/enqueue", body: body)
        let fault = try #require(Sample.read(.pagerDuty, request).fault)
        let answer = Self.receiver.answer(fault, to: request)
        #expect(answer.status == 400)
        #expect(
            answer.text == #"{"status":"invalid event","message":"Event object is invalid","errors":["\#(words)"]}"#
        )
    }

    @Test("an unknown key is 400, a used-up rate 429, a store that is away 503")
    func faults() {
        let request = Sample.request("POST", "/v2/enqueue")
        #expect(Self.receiver.answer(.unauthenticated, to: request).text.contains("'routing_key' is not valid"))
        #expect(Self.receiver.answer(.unauthenticated, to: request).status == 400)
        let limited = Self.receiver.answer(.rateLimited(retryAfterSeconds: 3), to: request)
        #expect(limited.status == 429 && limited.header("Retry-After") == "3")
        #expect(Self.receiver.answer(.unavailable(retryAfterSeconds: 5), to: request).status == 503)
        #expect(Self.receiver.answer(.tooLarge(), to: request).status == 413)
    }

    @Test("a trigger without a source is taken, and the owner told")
    func source() throws {
        let reading = Sample.read(
            .pagerDuty,
            Sample.request(body: #"{"event_action":"trigger","payload":{"summary":"s","severity":"sev2"}}"#)
        )
        #expect(try #require(reading.first).labels == ["source": "unknown"])
        #expect(try #require(reading.first).priority == 4 && reading.notes.count == 1)
    }

    @Test("a long summary is cut, never refused")
    func long() throws {
        let body =
            #"{"event_action":"trigger","payload":{"summary":"\#(String(repeating: "ä", count: 3000))","source":"s"}}"#
        #expect(
            try #require(Sample.read(.pagerDuty, Sample.request(body: body)).first).title
                == String(repeating: "ä", count: 512)
        )
    }
}
