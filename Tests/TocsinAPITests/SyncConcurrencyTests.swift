import JSON
import Testing
import TocsinCore

@Suite("Sync beside writers")
struct SyncConcurrencyTests {
    private struct Seen {
        var versions: [String: Int64] = [:]
        var startedAt: Int64?
    }

    /// One sync, all its pages; later versions win.
    private func sync(_ api: APIHarness, _ seen: inout Seen) async throws {
        var token = JSONValue.null
        var startedAt: Int64?
        repeat {
            let response = try await api.run(
                """
                query($s: AWSTimestamp, $n: String) {
                  syncTopics(lastSync: $s, limit: 5, nextToken: $n) { items { id _version } nextToken startedAt }
                }
                """,
                ["s": seen.startedAt.map(JSONValue.int) ?? .null, "n": token]
            )
            let page = try #require(response["data"]?["syncTopics"], "\(response.serializedString())")
            for item in page["items"]?.arrayValue ?? [] {
                let id = item["id"]?.stringValue ?? ""
                seen.versions[id] = max(seen.versions[id] ?? 0, item["_version"]?.intValue ?? 0)
            }
            token = page["nextToken"] ?? .null
            startedAt = page["startedAt"]?.intValue
        } while !token.isNull
        seen.startedAt = startedAt
    }

    @Test("a client that syncs by deltas while others write ends with every row's last version")
    func nothingSlipsUnder() async throws {
        let api = try await APIHarness()
        let writers = (0..<8).map { writer in
            Task {
                for number in 0..<12 {
                    let id = JSONValue.string("t\(writer)-\(number % 4)")
                    let version = JSONValue.int(Int64(number / 4))
                    let query =
                        number < 4
                        ? "mutation($i: CreateTopicInput!) { createTopic(input: $i) { id } }"
                        : "mutation($i: UpdateTopicInput!) { updateTopic(input: $i) { id } }"
                    let input: JSONValue =
                        number < 4 ? ["id": id, "name": id] : ["id": id, "arn": "arn:m", "_version": version]
                    let response = try await api.run(query, ["i": input])
                    #expect(response["errors"] == nil, "\(response.serializedString())")
                }
            }
        }
        var seen = Seen()
        for _ in 0..<20 { try await sync(api, &seen) }
        for writer in writers { try await writer.value }
        try await sync(api, &seen)
        #expect(seen.versions.count == 32)
        #expect(seen.versions.values.allSatisfy { $0 == 3 }, "\(seen.versions)")
    }

    @Test("the time of changes never goes back, even when the clock does")
    func clockGoesBack() {
        let clock = ChangeClock()
        let (early, late) = (FixedTime(1000), FixedTime(5000))
        #expect(clock.now(late).milliseconds == 5000)
        #expect(clock.now(early).milliseconds == 5000)
        #expect(clock.now(FixedTime(6000)).milliseconds == 6000)
    }
}

private struct FixedTime: TimeSource {
    let moment: Timestamp

    init(_ milliseconds: Int64) { moment = Timestamp(milliseconds: milliseconds) }

    func now() -> Timestamp { moment }

    func sleep(until moment: Timestamp) async throws {}
}
