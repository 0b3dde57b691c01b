import Testing
import TocsinCore
import TocsinReceivers

@Suite("CloudEvents")
struct CloudEventsTests {
    private static let structured = [("Content-Type", "application/cloudevents+json")]
    private static let batch = [("Content-Type", "application/cloudevents-batch+json")]

    private func status(_ request: ReceiverRequest) -> Int? {
        Sample.read(.cloudEvents, request).fault.map { CloudEventsReceiver().answer($0, to: request).status }
    }

    @Test(
        "an event without its attributes is refused",
        arguments: [
            #"{"specversion":"1.0","source":"s","type":"t"}"#, #"{"specversion":"1.0","id":"1","type":"t"}"#,
            #"{"specversion":"1.0","id":"1","source":"s"}"#, #"{"specversion":"0.3","id":"1","source":"s","type":"t"}"#,
            "[]", "x",
        ]
    )
    func missing(body: String) {
        #expect(status(Sample.request(headers: Self.structured, body: body)) == 400)
    }

    @Test("a batch is taken whole or not at all")
    func whole() {
        let good = #"{"specversion":"1.0","id":"1","source":"s","type":"t"}"#
        #expect(
            Sample.read(.cloudEvents, Sample.request(headers: Self.batch, body: "[\(good),\(good)]")).events?.count == 2
        )
        #expect(status(Sample.request(headers: Self.batch, body: "[\(good),{}]")) == 400)
        #expect(status(Sample.request(headers: Self.batch, body: "[\(good),7]")) == 400)
        let many = "[" + Array(repeating: good, count: 1001).joined(separator: ",") + "]"
        #expect(status(Sample.request(headers: Self.batch, body: many)) == 400)
        #expect(Sample.read(.cloudEvents, Sample.request(headers: Self.batch, body: "[]")).events == [])
    }

    @Test("another type is 415", arguments: ["application/cloudevents+xml", "text/plain", "application/json"])
    func types(type: String) {
        #expect(status(Sample.request(headers: [("Content-Type", type)], body: "{\"a\":1}")) == 415)
    }

    @Test("the handshake allows who asks, and tells the rate")
    func handshake() throws {
        let request = Sample.request("OPTIONS", headers: [("WebHook-Request-Origin", "eventemitter.example.com")])
        guard case .answered(let answer) = Sample.read(.cloudEvents, request) else { return #expect(Bool(false)) }
        #expect(answer.status == 200 && answer.header("WebHook-Allowed-Origin") == "eventemitter.example.com")
        #expect(answer.header("WebHook-Allowed-Rate") == "600")
        #expect(status(Sample.request("OPTIONS", headers: [("WebHook-Request-Origin", "a\r\nb")])) == 400)
    }

    @Test("binary headers are percent-decoded")
    func binary() throws {
        let headers = [("ce-id", "1"), ("CE-Source", "/s"), ("ce-type", "Euro%20%E2%82%AC"), ("ce-specversion", "1.0")]
        let event = try #require(Sample.read(.cloudEvents, Sample.request(headers: headers, body: "plain")).first)
        #expect(event.title == "Euro €" && event.body == "plain" && event.messageKey == "/s 1")
    }
}
