import GraphQLTransport
import JSON
import Testing
import TocsinAPI
import TocsinCore

@Suite("What a registration must say")
struct DeviceInputTests {
    @Test(
        "a platform other than ios, android and web is refused, and nothing is registered",
        arguments: ["", "iOS", "IOS", "windows", "macos", "ios ", "apns", "huawei", "ios\u{0}"]
    )
    func platforms(platform: String) async throws {
        let api = try await APIHarness()
        let answer = try await api.run(
            "mutation($p: String!) { registerPushToken(token: \"aa11\", platform: $p) { userId } }",
            ["p": .string(platform)]
        )
        let error = answer["errors"]?[0]
        #expect(error?["extensions"]?["code"] == "BAD_USER_INPUT", "\(answer)")
        #expect(error?["message"]?.stringValue?.contains("ios, android or web") == true, "\(answer)")
        #expect(try await api.run("{ devices { id } }")["data"]?["devices"] == [])
    }

    @Test("a hardware id without text is none")
    func emptyHardwareID() async throws {
        let api = try await APIHarness()
        let answer = try await api.run(
            """
            mutation { registerPushToken(token: "a:b", platform: "android", hardwareId: "") { device { hardwareId } } }
            """
        )
        #expect(answer["data"]?["registerPushToken"]?["device"]?["hardwareId"] == .null, "\(answer)")
        #expect(answer["errors"] == nil, "\(answer)")
    }

    @Test("who has not signed in, and who has an API key alone, registers no device")
    func signedIn() async throws {
        let api = try await APIHarness()
        guard case .refused = await api.service.authenticate(Credentials()) else {
            Issue.record("No credentials are some.")
            return
        }
        var bearer = APIHarness.identity("anybody")
        bearer.provider = .apiKey
        let answer = try await api.run(
            "mutation { registerPushToken(token: \"aa11\", platform: \"ios\") { userId } }",
            as: bearer
        )
        #expect(answer["errors"]?[0]?["extensions"]?["code"] == "UNAUTHORIZED", "\(answer)")
    }
}
