import JSON
import Testing
import TocsinCore
import TocsinPush

@Suite("Badges on the way")
struct BadgeTests {
    private func badge(_ sent: ScriptedTransport.Sent) throws -> JSONValue? {
        try JSONParser.parse(sent.request.body)["aps"]?["badge"]
    }

    @Test("each device shows what its owner has not read, on the first attempt and on the next")
    func perDevice() async throws {
        try await OutboxHarness.with { harness in
            try await harness.add([
                .sample("d1", token: "aa01", user: "ann"), .sample("d2", token: "bb02", user: "bob"),
                .sample("d3", token: "cc03", user: "cid"),
            ])
            let (models, moment) = (harness.models, harness.time.now())
            try await harness.store.write { writer throws(StoreError) in
                let read = (1...7).map { models.message("read-\($0)", in: "topic-1", number: 0, at: moment) }
                try writer.create(NewMessages(read))
                for (user, number) in [("ann", 2), ("bob", 7)] as [(String, Int64)] {
                    try writer.markRead(
                        TopicID("topic-1"),
                        upTo: number,
                        by: UserID(user),
                        now: Timestamp(milliseconds: 1)
                    )
                }
            }
            harness.transport.answer { sent, earlier in
                sent.token == "aa01" && earlier == 0 ? .apns(500, "InternalServerError") : .ok
            }
            try await harness.running { worker in
                try await harness.publish("m1", number: 8)
                worker.wake()
                try await harness.deliveries { $0.are(3, .accepted) }
            }
            for sent in harness.transport.sent {
                let expected: JSONValue? =
                    switch sent.token {
                    case "aa01": 5
                    case "bb02": 0
                    default: nil
                    }
                #expect(try badge(sent) == expected, "\(sent.token)")
            }
            #expect(harness.transport.sent.count { $0.token == "aa01" } == 2)
        }
    }
}
