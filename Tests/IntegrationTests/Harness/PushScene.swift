import Foundation
import JSON
import TocsinClient

/// One user with phones of her own and a topic, and what became of its messages.
struct PushScene {
    let installation: Installation
    let client: TocsinClient
    let topicID: String

    init(_ installation: Installation, phones: [String]) async throws {
        self.installation = installation
        client = try installation.makeClient(token: try await installation.addUser("ada"))
        for phone in phones { try await Self.register(phone, client) }
        topicID = try await client.makeTopic(named: "alerts")
    }

    static func register(_ phone: String, _ client: TocsinClient, name: String? = nil) async throws {
        let isIOS = phone.allSatisfy(\.isHexDigit)
        var device = DeviceRegistration(token: phone, platform: isIOS ? "ios" : "android")
        device.name = name
        _ = try await client.registerPushToken(device)
    }

    /// A token of APNs that begins as wanted.
    static func phone(_ prefix: String, _ number: Int = 0) -> String {
        let digits = String(number, radix: 16)
        return prefix + String(repeating: "f", count: 56 - prefix.count)
            + String(repeating: "0", count: 8 - digits.count) + digits
    }

    func publish(_ title: String) async throws -> String {
        try await client.publish(topic: .id(topicID), title: title).id
    }

    func deliveries(_ messageID: String) async throws -> [JSONValue] {
        let query = """
            query($id: ID!) { getMessage(id: $id) { deliveries(limit: 1000) {
                items { status reason attempts device { name token } } } } }
            """
        let answer = try await client.query(query, variables: ["id": .string(messageID)])
        return answer["getMessage"]?["deliveries"]?["items"]?.arrayValue ?? []
    }

    func statuses(_ messageID: String) async throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for row in try await deliveries(messageID) { counts[row["status"]?.stringValue ?? "", default: 0] += 1 }
        return counts
    }

    func untilStatuses(_ messageID: String, _ expected: [String: Int]) async throws {
        var seen: [String: Int] = [:]
        do {
            try await eventually("the deliveries are \(expected)") {
                seen = try await statuses(messageID)
                return seen == expected
            }
        } catch {
            throw HarnessFailure("\(error) They are \(seen).")
        }
    }

    func activePhones() async throws -> Int {
        let answer = try await client.query("{ devices { active } }")
        let devices = answer["devices"]?.arrayValue ?? []
        return devices.count { $0["active"] == true }
    }

    func stat(_ path: String...) async throws -> Int64 {
        var value = try await installation.simulator?.get("/_stats")
        for name in path { value = value?[name] }
        return value?.intValue ?? 0
    }
}
