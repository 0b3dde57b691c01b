import JSON
import Testing
import TocsinClient

@Suite("A server without push credentials", .timeLimit(.minutes(5)))
struct MissingCredentialsTests {
    private static let deliveries = """
        query($id: ID!) { getMessage(id: $id) {
          deliverySummary { waiting accepted failed ended expired skipped }
          deliveries { items { platform status reason attempts } }
        } }
        """

    @Test("it warns once, records its pushes as skipped, sends nothing; with credentials they are sent again")
    func skippedThenRedriven() async throws {
        try await Installation.run(prepare: { $0.environment = [:] }) { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.ada)
            let ids = [
                try await client.publish(topic: "alerts", title: "First").id,
                try await client.publish(topic: "alerts", title: "Second").id,
            ]
            for id in ids { try await Self.expectSkipped(id, client) }
            #expect(Self.warnings(installation) == ["apns", "fcm", "webpush"], "\(installation.log)")
            let ready = try await installation.http("/readyz")
            #expect(ready.status == 200)
            #expect(
                try ready.json["push"] == [
                    "apns": "not configured", "fcm": "not configured", "webpush": "not configured",
                ]
            )
            #expect(try await installation.simulator?.pushes().isEmpty == true)

            installation.environment = installation.simulator?.environment ?? [:]
            try await installation.restartServer()
            #expect(Self.warnings(installation).isEmpty, "\(installation.log)")
            for id in ids {
                let redrive = """
                    mutation { redriveDeliveries(messageId: "\(id)", status: SKIPPED) { waiting skipped } }
                    """
                let answer = try await installation.curl(redrive, token: scene.ada)
                #expect(answer["data"]?["redriveDeliveries"]?["skipped"] == 0, "\(answer)")
            }
            let pushes = try await scene.untilDelivered(2)
            let expected = Phone.ofAda.flatMap { [[$0, "First"], [$0, "Second"]] }
            #expect(Set(pushes.map { [$0.token, $0.title] }) == Set(expected))
            #expect(pushes.count == expected.count, "\(pushes)")
        }
    }

    private static func expectSkipped(_ id: String, _ client: TocsinClient) async throws {
        let message = try await eventually("the pushes are settled") { () -> JSONValue? in
            let message = try await client.query(deliveries, variables: ["id": .string(id)])["getMessage"]
            let isSettled = message?["deliverySummary"]?["skipped"]?.intValue == Int64(Phone.ofAda.count)
            return isSettled ? message : nil
        }
        let items = message["deliveries"]?["items"]?.arrayValue ?? []
        #expect(items.count == Phone.ofAda.count)
        for item in items {
            #expect(item["status"] == "SKIPPED", "\(item)")
            #expect(item["reason"] == "PROVIDER_NOT_CONFIGURED", "\(item)")
        }
    }

    /// The providers that the log warns of, one for each line.
    private static func warnings(_ installation: Installation) -> [String] {
        installation.logLines.filter {
            $0["level"] == "warning" && $0["message"]?.stringValue?.contains("not configured") == true
        }.compactMap { $0["provider"]?.stringValue }.sorted()
    }
}
