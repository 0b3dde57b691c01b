import JSON
import Testing
import TocsinContent

@Suite("What an app knows of its device")
struct DeviceTests {
    @Test("bytes of a token become hexadecimal digits in lower case")
    func hex() {
        #expect(hexEncoded([0x00, 0x0F, 0xA0, 0xFF]) == "000fa0ff")
        #expect(hexEncoded([UInt8]()).isEmpty)
    }

    @Test("only ios, android and web are platforms", arguments: ["IOS", "", "windows", "ios ", "apns"])
    func platforms(other: String) {
        #expect(PushPlatform("ios") == .ios && PushPlatform("android") == .android && PushPlatform("web") == .web)
        #expect(PushPlatform(other) == nil)
    }

    @Test("the simulator and a development profile are of the sandbox, the stores of production")
    func environments() {
        func profile(_ text: String) -> [UInt8] { [0x30, 0x82, 0xFF, 0x00] + Array(text.utf8) + [0x00, 0xFE] }
        func plist(_ value: String, key: String = "aps-environment") -> [UInt8] {
            profile("<dict><key>\(key)</key>\n\t\t<string>\(value)</string></dict>")
        }
        #expect(APNsEnvironment.detect(profile: nil, isSimulator: true) == .sandbox)
        #expect(APNsEnvironment.detect(profile: plist("production"), isSimulator: true) == .sandbox)
        #expect(APNsEnvironment.detect(profile: nil, isSimulator: false) == .production)
        #expect(APNsEnvironment.detect(profile: plist("development"), isSimulator: false) == .sandbox)
        #expect(APNsEnvironment.detect(profile: plist("production"), isSimulator: false) == .production)
        let onMac = plist("development", key: "com.apple.developer.aps-environment")
        #expect(APNsEnvironment.detect(profile: onMac, isSimulator: false) == .sandbox)
        let unreadable = [
            [], profile("nothing"), plist("staging"), profile("<key>aps-environment</key>"),
            profile("<key>aps-environment</key><true/>"), profile("<key>aps-environment</key><string>production"),
        ]
        for profile in unreadable { #expect(APNsEnvironment.detect(profile: profile, isSimulator: false) == nil) }
    }

    @Test("a wallet's key stays on the device, and is given out only when the person confirms")
    func keyStore() async throws {
        let memory = MemoryKeyStore()
        let store: any KeyStore = memory
        let key: [UInt8] = [1, 2, 3]
        try await store.store(key, named: "wallet", protection: .biometric(reason: "Sign in with your wallet"))
        try await store.store([9], named: "topic/7", protection: .afterFirstUnlock)
        #expect(try await store.names() == ["topic/7", "wallet"])
        #expect(try await store.key(named: "wallet") == key)
        #expect(await memory.questions == ["Sign in with your wallet"])
        await memory.setConfirms(false)
        await #expect(throws: KeyStoreError.refused) { try await store.key(named: "wallet") }
        // What the extension needs asks nobody.
        #expect(try await store.key(named: "topic/7") == [9])
        await memory.setLocked(true)
        await #expect(throws: KeyStoreError.locked) { try await store.key(named: "topic/7") }
        await memory.setLocked(false)
        try await store.removeKey(named: "wallet")
        try await store.removeKey(named: "wallet")
        #expect(try await store.key(named: "wallet") == nil)
        #expect("\(KeyStoreError.refused)".contains("confirm"))
    }

    @Test("the settings of Apple's and Google's push are values that give the server's variables")
    func providerConfigs() {
        let apns = ApnsConfig(teamID: "T", keyID: "K", keyPath: "k.p8", bundleID: "com.example.app", isProduction: true)
        #expect(ApnsConfig(environment: apns.environment) == apns && apns.environment["APNS_PRODUCTION"] == "true")
        #expect(ApnsConfig(environment: ["APNS_TEAM_ID": "T"]) == nil)
        let fcm = FcmConfig(serviceAccountPath: "service-account.json")
        #expect(FcmConfig(environment: fcm.environment) == fcm && fcm.environment.count == 1)
    }

    @Test("a direct push names only what was said")
    func directPush() {
        var payload = PushPayload(title: "T", body: "B")
        #expect(payload.arguments == ["title": "T", "body": "B", "type": 0])
        payload.data = ["b": "2", "a": "1"]
        payload.badge = 0
        payload.isSilent = true
        #expect(payload.arguments["data"] == "{\"a\":\"1\",\"b\":\"2\"}")
        #expect(payload.arguments["push"] == ["badge": 0, "silent": true])
        let answer: JSONValue = ["messageId": "m1", "devices": 2, "unknownTokens": 1]
        #expect(PushResult(answer) == PushResult(messageID: "m1", devices: 2, unknownTokens: 1))
        #expect(PushResult(["devices": 2]) == nil)
    }
}
