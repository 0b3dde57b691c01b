import Foundation
import JSON
import Testing
import TocsinContent

@Suite("Reading pushes: every golden push of the server")
struct PushContentGoldenTests {
    @Test("every golden push gives its ids, texts and values", arguments: GoldenPush.all)
    func golden(push: GoldenPush) {
        let content = push.content
        #expect(content.messageID == "m1" && content.topicID == "topic-1" && content.number == 1)
        #expect(content.cursor == "cursor-of-topic-1-1")
        let isWallet = push.name.hasPrefix("topic-epns")
        #expect(isWallet || content.type == "2" && content.typeNumber == 2)
        #expect(content.deliveryID?.isEmpty == false && content.createdAt == "2026-07-25T17:20:00.000Z")
        #expect(!content.isReduced)
        #expect(content.isSilent == push.name.hasPrefix("silent"))
        let isSealed = push.name.contains("secret") || push.name.hasPrefix("topic-placeholder")
        #expect((content.sealed != nil) == isSealed)
        if push.name.hasPrefix("secret") {
            #expect(content.sealed?.title == "U2FsdGVkX1+title" && content.sealed?.body == "U2FsdGVkX1+body")
            #expect(content.sealed?.secret == "BEp0" && content.text("amsg") == "U2Fs+msg")
            #expect(push.isThroughFirebase || content.badge == 2)
            #expect(content.title == (push.provider == .apple ? "New message" : nil))
        }
        if push.name.hasPrefix("full") || push.name.hasPrefix("voip") {
            #expect(content.url == "https://ci.example/42")
            #expect(["branch", "from", "n", "type"].map(content.text) == ["main", "x", "7", "ci"], "\(content.data)")
            #expect(content.data.count == 4, "\(content.data)")
        }
        if push.name.hasPrefix("full") { #expect(content.category == "BUILD") }
        if push.name.hasPrefix("buttons") {
            #expect(content.actions.map(\.id) == ["OPEN"] && content.actions.first?.url == "https://ci.example/42")
        }
        if push.name.hasPrefix("voip") || push.provider == .apple && content.sealed == nil && !content.isSilent {
            #expect(content.title == "Build failed" && content.body == "main is red")
        }
    }

    @Test("an app on Android that does not say whether the system shows a push reads the same")
    func withoutHint() {
        for push in GoldenPush.all where push.provider == .firebase {
            #expect(push.content == PushContent(fcm: push.data), "\(push.name)")
        }
    }

    @Test("the members of a push may come in any order")
    func anyOrder() {
        for push in GoldenPush.all where push.provider == .apple {
            guard let payload = push.payload.objectValue else { continue }
            let turned = JSONObject(payload.reversed().map { ($0.key, $0.value) })
            // A dictionary's order is another each time it is made.
            let given = push.content
            var content = PushContent(apple: turned)
            #expect(Set(content.data.keys) == Set(given.data.keys))
            content.data = given.data
            #expect(content == given, "\(push.name)")
        }
    }

    @Test("a hundred thousand changed pushes are read without a crash", arguments: 0..<4)
    func mutated(worker: UInt64) throws {
        var random = SeededRandom(seed: 20_261_124 + worker)
        let pushes = GoldenPush.all.shuffled(using: &random)
        for round in 0..<25_000 {
            let push = pushes[round % pushes.count]
            let payload = PushMutation.changed(push.payload, using: &random)
            let content: PushContent =
                switch round % 4 {
                case 0: PushContent(apple: payload.objectValue ?? [:])
                case 1: PushContent(webPush: payload)
                case 2: PushContent(item: payload)
                default: PushContent(fcm: GoldenPush.texts(payload["message"]?["data"] ?? payload))
                }
            // What was read is of its kind, whatever came.
            #expect(content.messageID?.isEmpty != true)
            #expect(content.actions.allSatisfy { !$0.id.isEmpty })
        }
    }
}

/// A file of the server's golden pushes.
struct GoldenPush: CustomTestStringConvertible, Sendable {
    enum Provider: Sendable { case apple, firebase }

    let name: String
    let provider: Provider
    /// The whole body; what reaches an iPhone through Firebase, the part for Apple and the data.
    let payload: JSONValue
    /// Whether Firebase brings it to an iPhone.
    let isThroughFirebase: Bool

    var testDescription: String { name }

    /// The data of a Firebase message.
    var data: [String: String] { Self.texts(payload["message"]?["data"]) }

    /// As the app on that platform reads it.
    var content: PushContent {
        switch provider {
        case .apple: PushContent(userInfo: plainMembers(payload.objectValue ?? [:]))
        case .firebase:
            PushContent(fcm: data, hasNotification: payload["message"]?["notification"] != nil)
        }
    }

    static func texts(_ value: JSONValue?) -> [String: String] {
        var texts: [String: String] = [:]
        for member in value?.objectValue ?? [:] {
            texts[member.key] = member.value.stringValue ?? member.value.serializedString()
        }
        return texts
    }

    static let all: [GoldenPush] = {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("TocsinPushTests/Golden")
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return files.sorted { $0.path < $1.path }.compactMap { file in
            guard file.pathExtension == "txt", let text = try? String(contentsOf: file, encoding: .utf8),
                let start = text.range(of: "\n\n"), let payload = try? JSONParser.parse(text[start.upperBound...].utf8)
            else { return nil }
            let part = payload["message"]?["apns"]?["payload"]
            let isApple = text.contains("push.apple.com") || part != nil
            return GoldenPush(
                name: file.deletingPathExtension().lastPathComponent,
                provider: isApple ? .apple : .firebase,
                payload: part.map { joined($0, payload["message"]?["data"]) } ?? payload,
                isThroughFirebase: part != nil
            )
        }
    }()

    /// What an app is handed that gets a push through Firebase: the data stands beside `aps`.
    private static func joined(_ part: JSONValue, _ data: JSONValue?) -> JSONValue {
        var members = part.objectValue ?? [:]
        for member in data?.objectValue ?? [:] where members[member.key] == nil { members[member.key] = member.value }
        return .object(members)
    }
}

/// The members as a property list has them.
func plainMembers(_ object: JSONObject) -> [AnyHashable: Any] {
    Dictionary(uniqueKeysWithValues: object.map { (AnyHashable($0.key), plainValue($0.value)) })
}

private func plainValue(_ value: JSONValue) -> Any {
    switch value {
    case .null: Optional<String>.none as Any
    case .bool(let flag): flag
    case .int(let number): Int(number)
    case .double(let number): number
    case .string(let text): text
    case .array(let values): values.map(plainValue)
    case .object(let object): plainMembers(object)
    }
}

/// The same numbers for the same seed (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Changes a payload somewhere: members go, move, or become something else.
enum PushMutation {
    private static let others: [JSONValue] = [
        .null, true, 0, -1, 7.5, "", "m2", "{", "[1", "{\"a\":{}}", "[{\"id\":1}]", .int(.max), .int(.min), 1e300,
        [], ["x"], [[:]], [:], ["title": 1], ["id": ""], "\u{0}\u{FFFD}", "data.data.", "9223372036854775808",
    ]
    private static let names = [
        "aps", "alert", "data", "data.", "data.id", "id", "messageId", "notification", "actions", "encrypted", "secret",
        "number", "badge", "type", "title", "body", "tag", "image", "timestamp", "fcm_options", "gcm.x", "",
    ]

    static func changed(_ value: JSONValue, using random: inout SeededRandom) -> JSONValue {
        if Int.random(in: 0..<6, using: &random) == 0 { return others.randomElement(using: &random) ?? .null }
        switch value {
        case .object(var object):
            let key = object.isEmpty ? "" : object.key(at: Int.random(in: 0..<object.count, using: &random))
            switch Int.random(in: 0..<4, using: &random) {
            case 0: object[key] = nil
            case 1: object[names.randomElement(using: &random) ?? ""] = others.randomElement(using: &random)
            case 2:
                object[names.randomElement(using: &random) ?? ""] = object[key]
            default: object[key] = object[key].map { changed($0, using: &random) }
            }
            return .object(object)
        case .array(let values): return .array(values.map { changed($0, using: &random) })
        default: return others.randomElement(using: &random) ?? .null
        }
    }
}
