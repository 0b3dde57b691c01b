import Testing
import TocsinCore

/// Says of every device the same.
private struct FixedForecast: PushForecast {
    var outlook = PushOutlook.open(PushOutlook.Way(service: "apns", app: "com.example", environment: .sandbox))
    var isStale = false
    var deadline = Timestamp(milliseconds: 100_000)

    func outlook(of device: Device) -> PushOutlook { outlook }
    func isStale(_ device: Device, now: Timestamp) -> Bool { isStale }
    func deadline(of message: Record) -> Timestamp { deadline }
}

@Suite("Explanations of deliveries")
struct DeliveryFactsTests {
    private static let model = ModelType(
        name: "Message",
        plural: "Messages",
        table: ShippedTables.layout(of: "Message").table,
        fields: ["id", "topicId", "number", "name", "_deleted", "_lastChangedAt"].map { name in
            ModelField(
                name: name,
                typeName: "String",
                kind: name == "number" || name == "_lastChangedAt" ? .int : name == "_deleted" ? .bool : .text,
                isRequired: false,
                storage: .extra(name)
            )
        },
        indexes: [],
        relations: [],
        rules: []
    )

    private static func record(_ id: String) -> Record {
        var record = Record(model: model)
        record["id"] = .text(id)
        record["topicId"] = .text("t1")
        record["name"] = .text("alerts")
        record["number"] = .int(7)
        record["_lastChangedAt"] = .int(10_000)
        return record
    }

    private static func delivery(_ status: DeliveryStatus, reason: DeliveryReason? = nil) -> Delivery {
        Delivery(
            id: DeliveryID("x"),
            messageID: MessageID("m1"),
            deviceID: DeviceID("d1"),
            platform: .ios,
            status: status,
            reason: reason,
            attempts: 2,
            nextAttemptAt: status == .waiting ? Timestamp(milliseconds: 30_000) : nil,
            updatedAt: Timestamp(milliseconds: 20_000)
        )
    }

    /// A member with one phone, to whom the message was pushed.
    private static var sound: DeliveryFacts {
        let device = Device(
            id: DeviceID("d1"),
            userID: UserID("ann"),
            platform: .ios,
            environment: .sandbox,
            appID: "",
            token: "aa",
            name: "Ann's",
            registeredAt: Timestamp(milliseconds: 1000),
            lastSeenAt: Timestamp(milliseconds: 1000)
        )
        return DeliveryFacts(
            message: record("m1"),
            topic: record("t1"),
            userID: UserID("ann"),
            membership: Membership(
                topicID: TopicID("t1"),
                userID: UserID("ann"),
                push: true,
                createdAt: Timestamp(milliseconds: 1000)
            ),
            devices: [device],
            deliveries: [delivery(.accepted)],
            now: Timestamp(milliseconds: 25_000),
            forecast: FixedForecast()
        )
    }

    private typealias Case = (
        name: String, change: @Sendable (inout DeliveryFacts) -> Void, fails: [DeliveryExplanation.GateName],
        words: String
    )

    private static let way = PushOutlook.Way(service: "apns", app: "", environment: nil)

    private static let cases: [Case] = [
        ("all is well", { _ in }, [], "accepted for 1 of 1"),
        ("deleted message", { $0.message["_deleted"] = .bool(true) }, [.message], "accepted"),
        (
            "deleted topic",
            {
                $0.topic = nil; $0.deliveries = []
            }, [.message, .delivery], "topic was deleted"
        ),
        (
            "no member",
            {
                $0.membership = nil; $0.deliveries = []
            }, [.membership, .delivery], "not a member"
        ),
        (
            "joined later",
            {
                $0.membership?.createdAt = Timestamp(milliseconds: 11_000); $0.deliveries = []
            },
            [.membership, .delivery], "after the message"
        ),
        (
            "muted topic",
            {
                $0.membership?.push = false; $0.deliveries = [delivery(.skipped, reason: "TOPIC_MUTED")]
            },
            [.topicPush, .delivery], "TOPIC_MUTED"
        ),
        (
            "notifications off",
            {
                $0.isMuted = true; $0.deliveries = [delivery(.skipped, reason: "NOTIFICATIONS_OFF")]
            },
            [.notifications, .delivery], "NOTIFICATIONS_OFF"
        ),
        (
            "no device",
            {
                $0.devices = []; $0.deliveries = []
            }, [.devices], "NO_DEVICE"
        ),
        (
            "retired device",
            {
                $0.devices[0].isActive = false
                $0.devices[0].disabledReason = "Unregistered"
                $0.deliveries = [delivery(.ended, reason: "Unregistered")]
            }, [.devices, .deviceActive, .delivery], "0 of them active"
        ),
        (
            "stale device",
            {
                $0.forecast = FixedForecast(isStale: true); $0.deliveries = [delivery(.skipped, reason: "DEVICE_STALE")]
            },
            [.deviceFresh, .delivery], "DEVICE_STALE"
        ),
        (
            "no credentials",
            {
                $0.forecast = FixedForecast(outlook: .unreachable(.appNotConfigured))
                $0.deliveries = [delivery(.skipped, reason: "APP_NOT_CONFIGURED")]
            }, [.provider, .delivery], "APP_NOT_CONFIGURED"
        ),
        (
            "paused",
            {
                let until = Timestamp(milliseconds: 40_000)
                $0.forecast = FixedForecast(outlook: .paused(way, reason: "InvalidProviderToken", until: until))
                $0.deliveries = [delivery(.waiting, reason: "InvalidProviderToken")]
            }, [.lane], "InvalidProviderToken"
        ),
        (
            "expired",
            {
                $0.now = Timestamp(milliseconds: 100_000); $0.deliveries = [delivery(.expired)]
            },
            [.expiry, .delivery], "expired"
        ),
        ("failed", { $0.deliveries = [delivery(.failed, reason: "PayloadEmpty")] }, [.delivery], "PayloadEmpty"),
        (
            "waiting", { $0.deliveries = [delivery(.waiting, reason: "Shutdown")] }, [],
            "waits after 2 attempts: Shutdown"
        ),
        (
            "on its way",
            {
                $0.deliveries = []; $0.isFanningOut = true
            }, [], "still on its way"
        ),
        ("not in the audience", { $0.deliveries = [] }, [.delivery], "no delivery"),
    ]

    @Test(
        "each obstacle is the gate that does not let the push pass, and the first is the summary",
        arguments: cases.indices
    )
    func gates(index: Int) {
        let (name, change, fails, words) = Self.cases[index]
        var facts = Self.sound
        change(&facts)
        let explanation = facts.explanation()
        let failed = explanation.gates.filter { $0.passed == false }.map(\.name)
        #expect(failed == fails, "\(name): \(explanation.gates)")
        #expect(explanation.summary.contains(words), "\(name): \(explanation.summary)")
    }

    @Test("the gates come in the order in which a push meets them, and show no token")
    func order() {
        var facts = Self.sound
        facts.devices[0].token = "secret-token"
        let explanation = facts.explanation()
        let names = explanation.gates.map(\.name)
        #expect(
            names == [
                .message, .membership, .topicPush, .notifications, .expiry, .devices, .deviceActive, .provider, .lane,
                .delivery,
            ]
        )
        #expect(!explanation.gates.contains { $0.sentence.contains("secret") || $0.advice?.contains("secret") == true })
    }

    @Test("a stranger to a message is told only that, and nothing of its ways, devices and deliveries")
    func strangers() {
        var facts = Self.sound
        (facts.isStranger, facts.membership) = (true, nil)
        let explanation = facts.explanation()
        #expect(explanation.gates.map(\.name) == [.message, .membership])
        #expect(explanation.gates.last?.passed == false)
        #expect(explanation.deliveries.isEmpty)
    }

    @Test("a direct push asks for no membership, and whom it does not name is told so")
    func directPushes() {
        var facts = Self.sound
        let sender = Identity(userID: UserID("bob"), username: "bob")
        facts.message["topicId"] = .text(DirectPushService.topicID(of: sender).text)
        facts.membership = nil
        #expect(!facts.explanation().gates.contains { $0.name == .membership })
        facts.deliveries = []
        #expect(facts.explanation().gates.last?.sentence.contains("not addressed to it") == true)
        facts.isStranger = true
        #expect(facts.explanation().summary == "The push was not addressed to this user.")
    }

    @Test("who may not read the message is told that before all that comes after it")
    func access() {
        var facts = Self.sound
        (facts.mayReceive, facts.isMuted, facts.deliveries) = (false, true, [])
        let explanation = facts.explanation()
        #expect(explanation.gates.filter { $0.passed == false }.map(\.name).prefix(2) == [.access, .notifications])
        #expect(explanation.summary.contains("ACCESS_ENDED"))
    }

    @Test("a message that expired after all was sent is no obstacle", arguments: [DeliveryStatus.accepted, .waiting])
    func expiredInTime(status: DeliveryStatus) throws {
        var facts = Self.sound
        facts.now = Timestamp(milliseconds: 100_000)
        facts.deliveries = [Self.delivery(status)]
        let gate = try #require(facts.explanation().gates.first { $0.name == .expiry })
        #expect(gate.passed == (status == .accepted))
    }

    @Test("without an outbox on this node nothing is said of ways and deadlines")
    func noForecast() {
        var facts = Self.sound
        facts.forecast = nil
        let names = Set(facts.explanation().gates.map(\.name))
        #expect(names.isDisjoint(with: [.expiry, .provider, .lane, .deviceFresh]))
        #expect(names.isSuperset(of: [.devices, .deviceActive, .delivery]))
    }

    @Test(
        "one attempt is one attempt, and several are several",
        arguments: [(0, "0 attempts"), (1, "1 attempt,"), (2, "2 attempts")]
    )
    func attempts(count: Int, words: String) {
        var facts = Self.sound
        facts.deliveries = [Self.delivery(.waiting)]
        facts.deliveries[0].attempts = count
        #expect(facts.explanation().gates.last?.sentence.contains(words) == true)
    }
}
