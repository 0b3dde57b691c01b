import JSON
import Testing
import TocsinAPI
import TocsinCore

@Suite("The size of responses")
struct ResponseSizeTests {
    private static func code(_ response: JSONValue) -> String? {
        response["errors"]?.arrayValue?.first?["extensions"]?["code"]?.stringValue
    }

    /// An API whose requests read so many bytes, with a topic of messages with so long bodies.
    private func harness(
        requestBytes: Int,
        responseBytes: Int = 1 << 24,
        messages: Int,
        bodyBytes: Int
    ) async throws -> (api: APIHarness, topic: String) {
        var limits = ServiceLimits()
        limits.examination.totalBytes = requestBytes
        let api = try await APIHarness(limits: limits, maximumResponseBytes: responseBytes)
        let topic = try await api.makeTopic()
        let body = JSONValue.string(String(repeating: "b", count: bodyBytes))
        for number in 1...messages { try await api.publish("m\(number)", to: topic, with: ["body": body]) }
        return (api, topic)
    }

    @Test("a response that would be too long is refused, and says so")
    func length() async throws {
        let (api, _) = try await harness(requestBytes: 1 << 24, responseBytes: 100_000, messages: 2, bodyBytes: 20_000)
        let short = try await api.run("{ listMessages { items { title a: body b: body } } }")
        #expect(short["data"]?["listMessages"]?["items"]?.arrayValue?.count == 2)
        let fields = ["a", "b", "c", "d"].map { "\($0): body" }.joined(separator: " ")
        let long = try await api.run("{ listMessages { items { title \(fields) } } }")
        #expect(Self.code(long) == "LIMIT")
        #expect(long["data"]?.isNull ?? true)
        #expect(long["errors"]?.arrayValue?.first?["message"]?.stringValue?.contains("100000 bytes") == true)
    }

    @Test("what escapes make longer counts as long as it is written")
    func escapes() async throws {
        let (api, topic) = try await harness(requestBytes: 1 << 24, responseBytes: 100_000, messages: 1, bodyBytes: 1)
        try await api.publish("tabs", to: topic, with: ["body": .string(String(repeating: "\u{1}", count: 30_000))])
        #expect(Self.code(try await api.run("{ listMessages { items { body } } }")) == "LIMIT")
    }

    @Test("the pages of one request hold so much together, however many aliases ask for them")
    func aliases() async throws {
        let (api, _) = try await harness(requestBytes: 300_000, messages: 4, bodyBytes: 30_000)
        let fields = (1...3).map { "p\($0): listMessages { items { title } }" }.joined(separator: " ")
        for _ in 1...5 {
            let response = try await api.run("{ \(fields) }")
            #expect(Self.code(response) == "LIMIT")
            // What a request held is given back with it.
            let one = try await api.run("{ listMessages { items { title } } }")
            #expect(one["data"]?["listMessages"]?["items"]?.arrayValue?.count == 4)
        }
    }

    @Test("owners who hold as much as they may leave something for the next")
    func shares() throws {
        let (budget, page) = (RecordBudget(bytesOfRequest: 1000), 10)
        var held: [Int] = []
        for owner in 1...5 {
            var bytes = 0
            while (try? budget.take(page, beside: 0, owner: "owner \(owner)")) != nil { bytes += page }
            held.append(bytes)
        }
        #expect(held == [2000, 2000, 1000, 500, 250])
        budget.release(held[0], owner: "owner 1")
        try budget.take(1000, beside: 0, owner: "owner 6")
    }
}
