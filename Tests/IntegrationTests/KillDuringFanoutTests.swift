import Foundation
import JSON
import Testing
import TocsinClient
import TocsinCore
import TocsinStore

@Suite("kill -9 while a message is on its way to 20,000 phones", .timeLimit(.minutes(10)))
struct KillDuringFanoutTests {
    private static let phones = 20_000
    private static let kills = 3
    /// `TOCSIN_PUSH_IN_FLIGHT`: what may have been accepted and not yet
    /// recorded when the server dies.
    private static let inFlight = 1000
    /// Each push is answered late, so that the server always dies with many
    /// accepted and not recorded.
    private static let simulator = [
        "--quiet", "--streams", "300", "--late-seconds", "0.2", "--rate", "apns:slow=1", "--records", "0",
    ]

    @Test("every phone gets it, shows it once, and has one final row; doubled are at most those under way at a death")
    func arrivesAtAll() async throws {
        let prepare = { (installation: Installation) in
            installation.environment.merge(Self.environment) { $1 }
        }
        try await Installation.run(simulator: Self.simulator, prepare: prepare) { installation in
            let token = try await installation.addUser("ada")
            let client = try installation.makeClient(token: token)
            try await Self.register(installation, client)
            let topicID = try await client.makeTopic(named: "alerts")
            let message = try await client.publish(topic: .id(topicID), title: "To all")
            for kill in 1...Self.kills {
                let mark = Self.phones * kill / (Self.kills + 2)
                try await eventually("\(mark) pushes are accepted") { try await Self.accepted(installation) >= mark }
                try await installation.killAndRestartServer()
                #expect(try await Self.accepted(installation) < Self.phones, "kill \(kill) came too late")
            }
            try await Self.expectAllDelivered(installation, client, messageID: message.id)
            try await Self.expectShownOnce(installation)
            try await Self.expectOneRowEach(client, messageID: message.id)
        }
    }

    private static let environment = [
        "TOCSIN_DEVICES_PER_OWNER": "\(phones)", "TOCSIN_PUSH_IN_FLIGHT": "\(inFlight)",
    ]

    private static func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "a1" + String(repeating: "0", count: 62 - digits.count) + digits
    }

    /// Registers one phone by the API, and writes the others beside it while the server is down.
    private static func register(_ installation: Installation, _ client: TocsinClient) async throws {
        try await PushScene.register(token(0), client)
        let me = try await client.query("{ me { userId } }")
        let userID = UserID(try #require(me["me"]?["userId"]?.stringValue))
        #expect(try await installation.stopServer() == 0)
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let store = try await SQLStore.open(installation.database, at: now)
        try await store.write { writer throws(StoreError) in
            guard let first = try writer.devices(of: userID).first else { return }
            for number in 1..<phones {
                var device = first
                device.id = DeviceID("device-\(number)")
                device.token = token(number)
                try writer.save(device)
            }
        }
        await store.close()
        try await installation.startServerAgain()
    }

    private static func accepted(_ installation: Installation) async throws -> Int {
        Int(try await installation.simulator?.get("/_stats")["apns"]?["accepted"]?.intValue ?? 0)
    }

    private static func expectAllDelivered(
        _ installation: Installation,
        _ client: TocsinClient,
        messageID: String
    ) async throws {
        let query = """
            query($id: ID!) { getMessage(id: $id) {
                deliverySummary { waiting accepted failed ended expired skipped } } }
            """
        var summary: JSONValue?
        do {
            try await eventually("every delivery is accepted", withinSeconds: 180) {
                summary = try await client.query(query, variables: ["id": .string(messageID)])["getMessage"]
                return summary?["deliverySummary"]?["accepted"]?.intValue == Int64(phones)
            }
        } catch {
            throw HarnessFailure("\(error) It is \(summary?.serializedString() ?? "unknown").")
        }
        #expect(summary?["deliverySummary"]?.objectValue?.reduce(0) { $0 + ($1.value.intValue ?? 0) } == Int64(phones))
    }

    private static func expectShownOnce(_ installation: Installation) async throws {
        let apns = try await installation.simulator?.get("/_stats")["apns"]
        let screens = try await installation.simulator?.get("/_screens")
        let doubled = apns?["duplicates"]?["byDelivery"]?.intValue ?? -1
        // None would mean that no kill met a push that was accepted and not recorded.
        #expect((1...Int64(kills * inFlight)).contains(doubled), "\(doubled) doubled")
        #expect(apns?["accepted"]?.intValue == Int64(phones) + doubled)
        #expect(screens?["phones"]?.intValue == Int64(phones))
        #expect(screens?["byShown"] == ["1": .int(Int64(phones))], "\(screens?.serializedString() ?? "")")
        #expect(screens?["replaced"]?.intValue == doubled)
    }

    private static func expectOneRowEach(_ client: TocsinClient, messageID: String) async throws {
        let query = """
            query($id: ID!, $next: String) { getMessage(id: $id) {
                deliveries(limit: 1000, nextToken: $next) { items { id status device { token } } nextToken } } }
            """
        var rows: [String: String] = [:]
        var count = 0
        var next: JSONValue = .null
        repeat {
            let answer = try await client.query(query, variables: ["id": .string(messageID), "next": next])
            let page = answer["getMessage"]?["deliveries"]
            for item in page?["items"]?.arrayValue ?? [] {
                rows[item["id"]?.stringValue ?? ""] = item["status"]?.stringValue
                count += 1
            }
            next = page?["nextToken"] ?? .null
        } while next != .null && count <= phones
        #expect(count == phones)
        #expect(rows.count == phones)
        #expect(Set(rows.values) == ["ACCEPTED"])
    }
}
