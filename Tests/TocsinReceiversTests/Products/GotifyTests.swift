import JSON
import Testing
import TocsinCore
import TocsinReceivers

@Suite("Gotify's shape")
struct GotifyTests {
    @Test(
        "priorities of ten steps become five",
        arguments: [
            (-1, 1), (0, 1), (1, 2), (3, 2), (4, 3), (5, 3), (6, 4), (7, 4), (8, 5), (10, 5), (99, 5),
        ]
    )
    func priorities(number: Int, priority: Int) throws {
        let request = Sample.request("POST", "/message", body: #"{"message":"m","priority":\#(number)}"#)
        #expect(try #require(Sample.read(.gotify, request).first).priority == priority)
    }

    @Test("the query and the body may share the fields")
    func query() throws {
        let request = Sample.request("POST", "/message?title=T&message=M&priority=4")
        let event = try #require(Sample.read(.gotify, request).first)
        #expect(event.title == "T" && event.body == "M" && event.priority == 3)
    }

    @Test(
        "a message is needed; without a title the integration's name stands",
        arguments: ["", "{}", #"{"message":" "}"#, "[]"]
    )
    func needed(body: String) throws {
        let request = Sample.request("POST", "/message", body: body)
        let answer = GotifyReceiver().answer(try #require(Sample.read(.gotify, request).fault), to: request)
        #expect(answer.status == 400 && answer.text.hasPrefix(#"{"error":"Bad Request","errorCode":400,"#))
        let good = Sample.request("POST", "/message", body: #"{"message":"m"}"#)
        #expect(try #require(Sample.read(.gotify, good).first).title == "Monitoring")
    }

    @Test("version and health are told without a key")
    func open() {
        #expect(GotifyReceiver.openAnswer(to: Sample.request("GET", "/version"))?.text.contains("\"version\"") == true)
        #expect(
            GotifyReceiver.openAnswer(to: Sample.request("GET", "/health"))?.text
                == #"{"health":"green","database":"green"}"#
        )
        #expect(GotifyReceiver.openAnswer(to: Sample.request("POST", "/message")) == nil)
    }

    @Test("a wrong key is Gotify's 401")
    func faults() {
        let answer = GotifyReceiver().answer(.unauthenticated, to: Sample.request("POST", "/message"))
        #expect(
            answer.status == 401
                && answer.text.hasPrefix(#"{"error":"Unauthorized","errorCode":401,"errorDescription":""#)
        )
    }

    @Test("extras for incidents that say no key are left out, and the message kept")
    func extras() throws {
        let request = Sample.request("POST", "/message", body: #"{"message":"m","extras":{"tocsin::incident":{}}}"#)
        let reading = Sample.read(.gotify, request)
        #expect(try #require(reading.first).action == .log && reading.notes.count == 1)
    }

    @Test("control characters are no part of a message, nor of the answer that tells it")
    func controls() throws {
        let request = Sample.request("POST", "/message", body: #"{"title":"a\u0000b","message":"c\u0000d"}"#)
        let event = try #require(Sample.read(.gotify, request).first)
        let answer = GotifyReceiver().answer(Sample.accepted([event], Sample.integration(.gotify)), to: request)
        let told = try JSONParser.parse(answer.text)
        #expect(told["title"] == "ab" && told["message"] == "cd", "\(answer.text)")
    }
}
