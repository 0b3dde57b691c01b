import JSON
import Testing
import TocsinCore
import TocsinPush

@Suite("Payload sizes")
struct SizeTests {
    /// What a random message may be made of: all widths of UTF-8, characters of several
    /// scalars, what JSON escapes.
    private static let alphabet: [String] = [
        "a", "Z", " ", "\"", "\\", "\n", "\u{1}", "\u{7F}", "é", "ß", "漢", "字", "한", "🙂", "👩‍👩‍👧‍👦", "🇨🇭", "e\u{301}\u{302}",
        "\u{200D}", "\u{FEFF}", "\u{FFFD}", "\u{10FFFF}", "<", "/", "ا", "\u{202E}", "𝔘",
    ]

    private static func text(_ length: Int, _ random: inout SplitMix) -> String {
        var text = ""
        while text.utf8.count < length { text += alphabet.randomElement(using: &random) ?? "" }
        return text
    }

    private static func message(_ random: inout SplitMix) -> [String: FieldValue] {
        let lengths = [0, 1, 30, 1000, 3000, 3900, 4096, 6000, 20_000]
        func some() -> String { text(lengths.randomElement(using: &random) ?? 0, &random) }
        var data: JSONObject = [:]
        for index in 0..<Int.random(in: 0...3, using: &random) {
            let value = text(Int.random(in: 0...2000, using: &random), &random)
            data["k\(index)"] = .string(value)
        }
        var push: JSONObject = ["silent": .bool(Int.random(in: 0...5, using: &random) == 0)]
        if Bool.random(using: &random) { push["subtitle"] = .string(text(200, &random)) }
        if Int.random(in: 0...3, using: &random) == 0 { push["encrypted"] = true }
        return [
            "title": .text(some()), "body": .text(some()), "priority": .int(Int64.random(in: 1...5, using: &random)),
            "data": .json(JSONValue.object(data).serializedString()),
            "push": .json(JSONValue.object(push).serializedString()),
        ]
    }

    @Test(
        "whatever the texts, payloads are valid, fit, and end at characters' borders",
        arguments: [20_261_121, 7, 99]
    )
    func randomTexts(_ seed: UInt64) async throws {
        print("sizes: seed \(seed)")
        var random = SplitMix(state: seed)
        for round in 0..<60 {
            let fields = Self.message(&random)
            let payload = PushPayload(message: TestModels().message("m1", fields), topic: nil)
            let badges: [String: Int64] = Bool.random(using: &random) ? ["abcd": .max] : [:]
            for platform in [PushPlatform.ios, .android] {
                let providers = TestProviders()
                let provider = providers.provider(PushService(reaching: platform))
                _ = await provider.results(payload, to: ["abcd"], platform: platform, badges: badges)
                let sent = try #require(providers.transport.sent.first, "round \(round) on \(platform) was not sent")
                // The device's token is no part of what Google measures.
                #expect(sent.request.body.count - (platform == .android ? 6 : 0) <= 4096)
                try Self.check(sent.request.body, fields, platform)
            }
        }
    }

    /// Valid UTF-8 and JSON, and each shown text either whole or cut between
    /// characters with an ellipsis.
    private static func check(_ bytes: [UInt8], _ fields: [String: FieldValue], _ platform: PushPlatform) throws {
        #expect(String(validating: bytes, as: UTF8.self) != nil)
        let body = try JSONParser.parse(bytes)
        let shown =
            platform == .ios ? body["aps"]?["alert"] : body["message"]?["notification"] ?? body["message"]?["data"]
        let ciphered = (platform == .ios ? body["encrypted"] : body["message"]?["data"]?["encrypted"]) != nil
        for name in ["title", "body"] {
            guard let text = shown?[name]?.stringValue, let whole = fields[name]?.text, !text.isEmpty else { continue }
            if ciphered {
                let isRight = platform == .ios ? text != whole : text == whole
                #expect(isRight, "ciphertext must be whole or absent")
            } else if text != whole {
                let isBeginning = text.hasSuffix("…") && whole.hasPrefix(text.dropLast())
                #expect(isBeginning, "\(name) is not a beginning of the text with an ellipsis")
            }
        }
    }

    @Test(
        "ciphertext that does not fit is left out whole, for the app to fetch",
        arguments: [PushPlatform.ios, .android]
    )
    func largeCiphertext(_ platform: PushPlatform) async throws {
        let cipher = String(repeating: "U2Fs", count: 1100)
        let fields: [String: FieldValue] = ["body": .text(cipher), "push": .json("{\"encrypted\":true}")]
        let providers = TestProviders()
        let payload = PushPayload(message: TestModels().message("m1", fields), topic: nil)
        _ = await providers.provider(PushService(reaching: platform)).results(payload, to: ["abcd"], platform: platform)
        let text = try #require(providers.transport.sent.first).text
        #expect(!text.contains("U2Fs") && !text.contains("Build failed"))
        #expect(text.contains("\"messageId\":\"m1\"") && text.contains("\"encrypted\""))
    }

    @Test("what Firebase hands to an iPhone fits Apple's payload with all its data", arguments: [7, 20_261_121])
    func firebase(_ seed: UInt64) async throws {
        print("sizes: seed \(seed)")
        var random = SplitMix(state: seed)
        let token = "inst1:APA91b"
        for round in 0..<40 {
            let fields = Self.message(&random)
            let providers = TestProviders()
            let payload = PushPayload(message: TestModels().message("m1", fields), topic: nil)
            let badges: [String: Int64] = Bool.random(using: &random) ? [token: .max] : [:]
            _ = await providers.fcm.results(payload, to: [token], platform: .ios, badges: badges)
            let sent = try #require(providers.transport.sent.first, "round \(round) was not sent")
            let message = try JSONParser.parse(sent.request.body)["message"]
            let apple = try #require(message?["apns"]?["payload"])
            let data = try #require(message?["data"])
            #expect(apple.serialized().count + data.serialized().count <= 4096)
            try Self.check(apple.serialized(), fields, .ios)
        }
    }

    @Test("a silent message rings no call")
    func silentCall() async throws {
        let providers = TestProviders()
        let fields: [String: FieldValue] = ["push": .json("{\"silent\":true}")]
        let payload = PushPayload(message: TestModels().message("m1", fields), topic: nil)
        let results = await providers.apns.results(payload, to: ["abcd"], appID: "com.example.app.voip")
        #expect(results == [.skipped(reason: "SILENT_CALL")] && providers.transport.sent.isEmpty)
    }

    @Test("a call's payload may have 5,120 bytes")
    func calls() async throws {
        let providers = TestProviders()
        let body = String(repeating: "x", count: 4500)
        let payload = PushPayload(message: TestModels().message("m1", ["body": .text(body)]), topic: nil)
        _ = await providers.apns.results(payload, to: ["abcd"], appID: "com.example.app.voip")
        let sent = try #require(providers.transport.sent.first)
        #expect(sent.text.contains(body) && sent.request.body.count <= 5120)
        #expect(sent.header("apns-topic") == "com.example.app.voip" && sent.header("apns-push-type") == "voip")
    }
}

/// A generator whose numbers follow from its seed.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
