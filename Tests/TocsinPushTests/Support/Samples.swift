import JSON
import Synchronization
import TocsinAuth
import TocsinCore
import TocsinPush

/// Models as the shipped schema makes them, as far as pushes read them.
struct TestModels: Sendable {
    let topic: ModelType
    let message: ModelType

    /// With rules by the models' names.
    init(rules: [String: [AccessRule]] = [:]) {
        topic = Self.model(
            "Topic",
            [
                ("name", .text), ("arn", .text), ("channelId", .text), ("interruptionLevel", .text),
                ("pushPlaceholder", .text), ("pushPayload", .text), ("pushApp", .text), ("pushIcon", .text),
                ("pushUrl", .text),
            ],
            rules["Topic"] ?? []
        )
        message = Self.model(
            "Message",
            [
                ("topicId", .text), ("number", .int), ("type", .int), ("title", .text), ("body", .text), ("key", .text),
                ("priority", .int), ("url", .text), ("data", .json), ("category", .text), ("expiresAt", .text),
                ("push", .json), ("incidentId", .text), ("incidentChange", .text),
            ],
            rules["Message"] ?? []
        )
    }

    private static func model(
        _ name: String,
        _ own: [(String, ModelField.Kind)],
        _ rules: [AccessRule]
    ) -> ModelType {
        let layout = ShippedTables.layout(of: name)
        let common: [(String, ModelField.Kind)] = [
            ("id", .text), ("owner", .text), ("createdAt", .text), ("updatedAt", .text), ("_version", .int),
            ("_deleted", .bool), ("_lastChangedAt", .int),
        ]
        let fields = (common + own).map { field, kind in
            ModelField(
                name: field,
                typeName: "String",
                kind: kind,
                isRequired: field == "id",
                storage: layout.columns[field].map(ModelField.Storage.column) ?? .extra(field),
                role: field == "number" ? .generated : .declared
            )
        }
        return ModelType(
            name: name,
            plural: name + "s",
            table: layout.table,
            fields: fields,
            indexes: [],
            relations: [],
            rules: rules
        )
    }

    func topic(_ id: String, _ more: [String: FieldValue] = [:]) -> Record {
        var record = Record(model: topic)
        for (name, value) in [
            ("id", FieldValue.text(id)), ("owner", .text("ann")), ("name", .text("builds")),
            ("arn", .text("arn:" + id)),
            ("createdAt", .text("2026-07-25T17:20:00.000Z")), ("updatedAt", .text("2026-07-25T17:20:00.000Z")),
            ("_version", .int(1)), ("_lastChangedAt", .int(1)),
        ] { record[name] = value }
        for (name, value) in more { record[name] = value }
        return record
    }

    func message(
        _ id: String,
        in topic: String = "topic-1",
        number: Int64 = 1,
        at moment: Timestamp = ManualTime().now(),
        _ more: [String: FieldValue] = [:]
    ) -> Record {
        var record = Record(model: message)
        for (name, value) in [
            ("id", FieldValue.text(id)), ("owner", .text("ann")), ("topicId", .text(topic)), ("number", .int(number)),
            ("type", .int(2)), ("title", .text("Build failed")), ("body", .text("main is red")), ("priority", .int(3)),
            ("createdAt", .text("2026-07-25T17:20:00.000Z")), ("updatedAt", .text("2026-07-25T17:20:00.000Z")),
            ("_version", .int(1)), ("_lastChangedAt", .int(moment.milliseconds)),
        ] { record[name] = value }
        for (name, value) in more { record[name] = value }
        return record
    }
}

/// All providers over one scripted transport.
struct TestProviders: Sendable {
    var time = ManualTime()
    let transport = ScriptedTransport()
    let tokenEndpoint = ScriptedTokenEndpoint()
    var signer: any Signer = FixedSigner()
    var mayBeCritical = false
    let metrics = PushMetrics()

    var apns: APNsProvider {
        var credentials = APNsCredentials(
            teamID: "TEAM000001",
            keyID: "KEY0000001",
            signer: signer,
            bundleID: "com.example.app"
        )
        credentials.mayBeCritical = mayBeCritical
        return APNsProvider(
            credentials: credentials,
            transport: transport,
            time: time,
            metrics: metrics[.apns]
        )
    }

    var fcm: FCMProvider {
        FCMProvider(
            credentials: FCMCredentials(
                projectID: "demo",
                clientEmail: "push@demo.example",
                keyID: "k1",
                signer: FixedSigner(algorithm: "RS256"),
                tokenURL: "https://token.example/token"
            ),
            transport: transport,
            http: tokenEndpoint,
            time: time,
            metrics: metrics[.fcm]
        )
    }

    var webPush: WebPushProvider {
        WebPushProvider(
            credentials: WebPushCredentials(signer: signer, publicKey: "PUBLIC", subject: "mailto:a@b.example"),
            crypto: PlainCrypto(),
            rules: WebPushAddressRules(),
            transport: transport,
            time: time,
            metrics: metrics[.webPush]
        )
    }

    func provider(_ service: PushService) -> any PushProvider {
        switch service {
        case .apns: apns
        case .fcm: fcm
        case .webPush: webPush
        }
    }
}

/// Leaves texts as they are, so that tests can read them.
struct PlainCrypto: WebPushCrypto {
    func receiver(p256dh: String, auth: String) -> WebPushReceiver? {
        WebPushCipher().receiver(p256dh: p256dh, auth: auth)
    }

    func encrypted(_ plaintext: [UInt8], for receiver: WebPushReceiver) throws(KeyError) -> [UInt8] { plaintext }
}

/// Gives access tokens `token-1`, `token-2`… or what the script says, and counts the calls.
final class ScriptedTokenEndpoint: OutgoingHTTP {
    private let answers = Mutex<[OutgoingAnswer]>([])
    private let requests = Mutex<[OutgoingRequest]>([])
    private let held = Mutex<HeldTokenEndpoint?>(nil)

    /// From now on calls wait at this endpoint.
    func hold(_ endpoint: HeldTokenEndpoint) { held.withLock { $0 = endpoint } }

    var calls: [OutgoingRequest] { requests.withLock { $0 } }

    /// The next answers; after them tokens are given.
    func answerNext(_ next: [OutgoingAnswer]) { answers.withLock { $0 = next } }

    func send(_ request: OutgoingRequest) async -> OutgoingAnswer {
        let count = requests.withLock { requests in
            requests.append(request)
            return requests.count
        }
        await held.withLock { $0 }?.pass()
        if let scripted = answers.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return scripted }
        return Self.token("token-\(count)")
    }

    static func token(_ text: String, expiresIn: Int = 3600) -> OutgoingAnswer {
        let body = "{\"access_token\":\"\(text)\",\"expires_in\":\(expiresIn),\"token_type\":\"Bearer\"}"
        return .response(status: 200, headers: [], body: Array(body.utf8))
    }
}

/// Keeps calls waiting until it is opened.
final class HeldTokenEndpoint: Sendable {
    private let asked = Mutexed(false)
    private let (stream, feeder) = AsyncStream.makeStream(of: Void.self)

    var isAsked: Bool { asked.value.withLock { $0 } }

    func open() { feeder.finish() }

    func pass() async {
        asked.value.withLock { $0 = true }
        for await _ in stream {}
    }
}

extension PushProvider {
    /// Sends a payload to devices with these tokens and collects the results in their order.
    func results(
        _ payload: PushPayload,
        to tokens: [String],
        platform: PushPlatform? = nil,
        appID: String = "",
        badges: [String: Int64] = [:],
        deadline: Timestamp? = nil
    ) async -> [PushResult?] {
        let results = Mutexed([PushResult?](repeating: nil, count: tokens.count))
        let platform = platform ?? (service == .apns ? .ios : service == .fcm ? .android : .web)
        let tokens = service == .webPush ? tokens.map { Browser.subscription("https://push.example/p/\($0)") } : tokens
        let device = Device.sample("d", token: tokens[0], platform: platform, appID: appID)
        guard let lane = lane(of: device) else { return [] }
        let order = PushOrder(
            payload: payload,
            lane: lane,
            targets: tokens.map {
                PushTarget(
                    token: $0,
                    deliveryID: DeliveryID(of: payload.messageID, to: DeviceID($0)),
                    badge: badges[$0]
                )
            },
            deadline: deadline ?? payload.deadline(lifetimeSeconds: 21_600)
        )
        await send(order) { index, result in results.value.withLock { $0[index] = result } }
        return results.value.withLock { $0 }
    }
}

extension Device {
    static func sample(
        _ id: String,
        token: String,
        platform: PushPlatform = .ios,
        appID: String = "",
        user: String = "ann",
        registeredAt: Timestamp = Timestamp(milliseconds: 1_700_000_000_000)
    ) -> Device {
        Device(
            id: DeviceID(id),
            userID: UserID(user),
            platform: platform,
            environment: nil,
            appID: appID,
            token: token,
            name: nil,
            registeredAt: registeredAt,
            lastSeenAt: registeredAt
        )
    }
}

extension PushService {
    /// The service of a platform's plain tokens; browsers' are FCM's.
    init(reaching platform: PushPlatform) {
        self.init(reaching: .sample("d", token: "abcd1234", platform: platform))
    }
}
