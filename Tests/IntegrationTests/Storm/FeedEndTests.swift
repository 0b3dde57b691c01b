import Foundation
import JSON
import Testing
import TocsinClient
import TocsinSQLite
import TocsinStore

@Suite("How feeds end over each carrier", .timeLimit(.minutes(5)))
struct FeedEndTests {
    /// A subscription of ada's that a carrier runs.
    private func open(
        _ carrier: StormCarrier,
        _ scene: Scene,
        namesTopic: Bool = true,
        cursor: String,
        token: String? = nil,
        isSlow: Bool = false
    ) async throws -> any StormStream {
        let question = StormQuestion(
            port: scene.installation.server?.port ?? 0,
            token: token ?? scene.ada,
            topicID: namesTopic ? scene.topicID : nil,
            cursor: cursor,
            isGreedy: isSlow,
            hasSmallWindow: isSlow
        )
        return try await question.open(carrier)
    }

    private func event(_ stream: any StormStream) async throws -> StormEvent {
        try await eventually("the stream says something") { try stream.look() }
    }

    private func publish(_ count: Int, _ scene: Scene, body: String = "") async throws -> [String] {
        let client = try scene.installation.makeClient(token: scene.ada)
        var cursors: [String] = []
        for _ in 0..<count {
            cursors.append(try await client.publish(topic: .id(scene.topicID), title: "x", body: body).cursor)
        }
        return cursors
    }

    @Test(
        "a cursor that cannot be honoured is refused with its code and the oldest one that can",
        arguments: StormCarrier.allCases
    )
    func refusals(carrier: StormCarrier) async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let cursors = try await publish(6, scene)
            let client = try installation.makeClient(token: scene.ada)
            let other = try await client.makeTopic(named: "other")
            let elsewhere = try await client.publish(topic: .id(other), title: "x").cursor
            let bobs = try installation.makeClient(token: scene.bob)
            let foreign = try await bobs.publish(topic: .id(try await bobs.makeTopic(named: "bobs")), title: "x").cursor
            let connection = try SQLiteDatabase(path: installation.folder + "/data/tocsin.db").connect(.tool)
            try connection.run("DELETE FROM messages WHERE topic_id = $1 AND number < 4", [.text(scene.topicID)])
            try connection.run("UPDATE topics SET first_number = 4 WHERE id = $1", [.text(scene.topicID)])
            try connection.run("UPDATE feeds SET first_position = 4 WHERE owner LIKE '%::ada'", [])
            connection.close()
            let cases: [(cursor: String, code: String, topic: [Bool])] = [
                (cursors[3] + "x", "BAD_CURSOR", [true, false]), ("forged", "BAD_CURSOR", [true, false]),
                (foreign, "BAD_CURSOR", [true, false]), (elsewhere, "BAD_CURSOR", [true]),
                (cursors[1], "CURSOR_EXPIRED", [true, false]),
            ]
            for (cursor, code, topics) in cases {
                for namesTopic in topics {
                    let refused = try await open(carrier, scene, namesTopic: namesTopic, cursor: cursor)
                    guard case .failed(let error) = try await event(refused) else {
                        Issue.record("\(code) was not told.")
                        continue
                    }
                    #expect(error["extensions"]?["code"]?.stringValue == code, "\(error.serializedString())")
                    let oldest = try #require(error["extensions"]?["oldestCursor"]?.stringValue)
                    let again = try await open(carrier, scene, namesTopic: namesTopic, cursor: oldest)
                    guard case .message(let message, _) = try await event(again) else {
                        Issue.record("The oldest cursor was not honoured.")
                        continue
                    }
                    #expect(message["number"] == 4)
                }
            }
        }
    }

    @Test(
        "a reader that stalls is ended with its cursor, and misses nothing when it comes again",
        arguments: StormCarrier.allCases
    )
    func stalled(carrier: StormCarrier) async throws {
        // A peer that takes nothing for so long is dropped without a word: this one is to be told,
        // however slow the machine.
        try await Installation.run(prepare: { $0.environment["TOCSIN_SOCKET_WRITE_SECONDS"] = "300" }) { installation in
            let scene = try await Scene(installation)
            let first = try await publish(1, scene)[0]
            let stream = try await open(carrier, scene, cursor: first, isSlow: true)
            _ = try await publish(1, scene)
            _ = try await event(stream)
            // More than the queue holds and the system keeps for both ends.
            let count: Int64 = 30
            _ = try await publish(Int(count), scene, body: String(repeating: "x", count: 200_000))
            var (last, cursor): (Int64, String?) = (2, nil)
            while cursor == nil {
                switch try await event(stream) {
                case .message(let message, _):
                    last += 1
                    #expect(message["number"] == .int(last))
                case .failed(let error):
                    #expect(error["extensions"]?["code"] == "UNAVAILABLE", "\(error.serializedString())")
                    cursor = try #require(error["extensions"]?["cursor"]?.stringValue)
                case .ended(let how): throw HarnessFailure("The stream ended without a word: \(how)")
                }
            }
            #expect(last < 2 + count)
            let again = try await open(carrier, scene, cursor: cursor ?? "")
            while last < 2 + count {
                guard case .message(let message, _) = try await event(again) else {
                    throw HarnessFailure("It did not go on after \(last).")
                }
                last += 1
                #expect(message["number"] == .int(last))
            }
        }
    }
}
