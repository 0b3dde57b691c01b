import Foundation
import JSON
import Testing

@Suite("Founding rows: proven devices", .timeLimit(.minutes(5)))
struct ProvenDeviceTests {
    private static let phone = PushScene.phone("c3")
    private static let wallet = "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F"

    @Test("C3, C4: a device needs a signature that proves its address; A32: no log names its token")
    func proven() async throws {
        try await Installation.run { installation in
            installation.environment["TOCSIN_REGISTRATION_PROOF"] = "require"
            installation.environment["TOCSIN_PUBLIC_NAME"] = "push.example.com"
            installation.environment["TOCSIN_LOG_LEVEL"] = "trace"
        } _: { installation in
            let token = try await installation.addUser("ada")
            try await refuse(installation, token)
            try await registerByCommand(installation, token)
            let service = try await installation.makeToken(user: "ada", ["--push"])
            let push = "mutation($a: String) { sendPush(address: $a, title: \"For the wallet\") { devices } }"
            let sent = try await installation.curl(push, ["a": .string(Self.wallet)], token: service)
            #expect(sent["data"]?["sendPush"]?["devices"] == 1, "\(sent)")
            try await eventually("the wallet's phone has the push") {
                try await installation.simulator?.pushes().contains { $0.isAccepted && $0.token == Self.phone } == true
            }
            #expect(installation.log.contains("a registration's proof was refused"))
            #expect(!installation.log.contains(Self.phone), "\(installation.log)")
        }
    }

    /// Without a proof, by a route that knows of none, and with a forged one.
    private func refuse(_ installation: Installation, _ token: String) async throws {
        let register = """
            mutation($t: String!, $p: RegistrationProofInput) {
              registerPushToken(token: $t, platform: "ios", proof: $p) { userId } }
            """
        func code(_ proof: JSONValue) async throws -> JSONValue? {
            let variables: JSONObject = ["t": .string(Self.phone), "p": proof]
            let answer = try await installation.curl(register, variables, token: token)
            return answer["errors"]?[0]?["extensions"]?["code"]
        }
        #expect(try await code(.null) == "PROOF_REFUSED")
        let route = try await installation.http(
            "/tcm/register-device-token",
            token: token,
            ["--json", "{\"device_token\": \"\(Self.phone)\"}"]
        )
        #expect(route.status == 403 && "\(route.body)".contains("registrationChallenge"), "\(route)")
        let challenge = try await installation.curl("{ registrationChallenge { nonce server } }", token: token)
        #expect(challenge["data"]?["registrationChallenge"]?["server"] == "push.example.com", "\(challenge)")
        let forged: JSONValue = [
            "scheme": "EIP191", "address": .string(Self.wallet),
            "signature": .string("0x" + String(repeating: "11", count: 64) + "1b"),
            "nonce": challenge["data"]?["registrationChallenge"]?["nonce"] ?? .null,
        ]
        #expect(try await code(forged) == "PROOF_REFUSED")
    }

    private func registerByCommand(_ installation: Installation, _ token: String) async throws {
        let path = installation.folder + "/wallet.key"
        try Data(String(repeating: "46", count: 32).utf8).write(to: URL(fileURLWithPath: path))
        let command = ["register", "--platform", "ios", "--token", Self.phone, "--sign", "eip191", "--key", path]
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let open = try await installation.tocsin(command, token: token)
        #expect(open.status == 1 && open.errors.contains("chmod 600"), "\(open)")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let registered = try await installation.tocsin(command, token: token)
        #expect(registered.status == 0 && registered.output.contains("proven by \(Self.wallet)"), "\(registered)")
        let found = try await installation.curl(
            "query($a: String) { devices(address: $a) { platform active address provenAt } }",
            ["a": .string(Self.wallet)],
            token: token
        )
        #expect(found["data"]?["devices"]?[0]?["address"] == .string(Self.wallet), "\(found)")
    }
}
