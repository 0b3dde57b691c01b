import Synchronization
import Testing
import TocsinCore
import TocsinPush

@Suite("Several apps on one server")
struct PushProvidersTests {
    private static let scene = TestProviders()

    private static func apple(
        _ bundleID: String?,
        sides: Set<PushEnvironment> = Set(PushEnvironment.allCases),
        team: String = "TEAM000001"
    ) -> APNsProvider {
        APNsProvider(
            credentials: APNsCredentials(
                teamID: team,
                keyID: "KEY0000001",
                signer: FixedSigner(),
                bundleID: bundleID,
                environments: sides
            ),
            transport: scene.transport,
            time: scene.time
        )
    }

    /// A default app, one with a key for each side, and one that shares a project's name with it.
    private static let providers = PushProviders([
        .init(aliases: ["com.example.main", "demo"], providers: [apple("com.example.main"), scene.fcm]),
        .init(
            id: "second",
            aliases: ["com.example.second", "shared"],
            providers: [
                apple("com.example.second", sides: [.production]), apple("com.example.second", sides: [.sandbox]),
            ]
        ),
        .init(id: "third", aliases: ["shared"], providers: [scene.fcm]),
    ])

    private typealias Case = (
        app: String, platform: PushPlatform, side: PushEnvironment?, lane: String?, obstacle: DeliveryReason?
    )

    private static let cases: [Case] = [
        ("", .ios, nil, "/com.example.main/sandbox", nil),
        ("", .android, nil, "/demo/-", nil),
        ("com.example.main", .ios, .production, "/com.example.main/production", nil),
        ("demo", .android, nil, "/demo/-", nil),
        ("second", .ios, .production, "second/com.example.second/production", nil),
        ("com.example.second", .ios, nil, "second/com.example.second/sandbox", nil),
        ("com.example.second.voip", .ios, .production, "second/com.example.second.voip/production", nil),
        ("com.example.second.complication", .ios, nil, nil, .appNotConfigured),
        ("com.example.other.voip", .ios, nil, nil, .appNotConfigured),
        ("second", .android, nil, nil, .providerNotConfigured),
        ("third", .android, nil, "third/demo/-", nil),
        ("third", .ios, nil, nil, .providerNotConfigured),
        ("shared", .android, nil, nil, .appNotConfigured),
        ("com.example.other", .ios, nil, nil, .appNotConfigured),
        ("com.example.other", .android, nil, nil, .appNotConfigured),
    ]

    @Test("a device goes the way of its app and side, or the ledger says what is missing", arguments: cases.indices)
    func lanes(index: Int) {
        let (app, platform, side, expected, obstacle) = Self.cases[index]
        var device = Device.sample("d", token: "aa", platform: platform, appID: app)
        device.environment = side
        let lane = Self.providers.lane(of: device)
        #expect(
            lane.map { "\($0.app)/\($0.appID)/\($0.environment?.rawValue ?? "-")" } == expected,
            "\(app) \(platform)"
        )
        if let lane { #expect(Self.providers[lane] != nil) }
        if let obstacle { #expect(Self.providers.obstacle(to: device) == obstacle, "\(app) \(platform)") }
    }

    @Test("a default app without a name of its own takes in every app, by the name the device gave")
    func adoption() {
        let providers = PushProviders([.init(providers: [Self.apple(nil)], adopts: [.apns])])
        let device = Device.sample("d", token: "aa", appID: "com.example.any")
        #expect(providers.lane(of: device)?.appID == "com.example.any")
        let nameless = Device.sample("d", token: "aa")
        #expect(providers.lane(of: nameless) == nil)
        #expect(providers.obstacle(to: nameless) == .appNotConfigured)
    }

    @Test("a key for one side leaves devices of the other alone")
    func oneSide() {
        let providers = PushProviders([.init(providers: [Self.apple("com.example", sides: [.production])])])
        var device = Device.sample("d", token: "aa")
        device.environment = .sandbox
        #expect(providers.lane(of: device) == nil)
        #expect(providers.obstacle(to: device) == .appNotConfigured)
        device.environment = .production
        #expect(providers.lane(of: device)?.environment == .production)
    }

    @Test("without any credentials for a service that is the reason, whatever the app")
    func nothing() {
        let providers = PushProviders([.init(id: "a", providers: [Self.apple("a")])])
        for app in ["", "a", "b"] {
            let device = Device.sample("d", token: "t", platform: .android, appID: app)
            #expect(providers.obstacle(to: device) == .providerNotConfigured)
        }
        #expect(providers.has(.apns) && !providers.has(.fcm))
    }

    @Test("apps of one team and key bring one token")
    func sharedToken() async throws {
        let scene = TestProviders()
        let signer = CountingSigner()
        let source = APNsTokenSource(teamID: "T", keyID: "K", signer: signer, time: scene.time)
        let payload = PushPayload(message: TestModels().message("m1"), topic: nil)
        for bundle in ["com.example.one", "com.example.two"] {
            let provider = APNsProvider(
                credentials: APNsCredentials(teamID: "T", keyID: "K", signer: signer, bundleID: bundle),
                transport: scene.transport,
                time: scene.time,
                tokens: source
            )
            #expect(await provider.results(payload, to: ["aa"]) == [.accepted(providerID: nil)])
        }
        let sent = scene.transport.sent
        #expect(Set(sent.map { $0.header("authorization") }).count == 1)
        #expect(sent.map { $0.header("apns-topic") } == ["com.example.one", "com.example.two"])
        #expect(Set(sent.map(\.batch.pool)).count == 1)
    }

    @Test(
        "an iPhone's token decides between Apple and Firebase, and what lacks credentials is told for its own service"
    )
    func iPhones() {
        let scene = TestProviders()
        let apple = Device.sample("a", token: "aa11bb22")
        let google = Device.sample("g", token: "inst1:APA91b")
        var installation = Device.sample("i", token: "aabbccdd")
        installation.kind = .fid
        let both = PushProviders([scene.apns, scene.fcm])
        #expect([apple, google, installation].map { both.lane(of: $0)?.service } == [.apns, .fcm, .fcm])
        #expect(both.lane(of: google)?.platform == .ios)
        let appleAlone = PushProviders([scene.apns])
        let googleAlone = PushProviders([scene.fcm])
        #expect(appleAlone.lane(of: google) == nil && appleAlone.obstacle(to: google) == "PROVIDER_NOT_CONFIGURED")
        #expect(googleAlone.lane(of: apple) == nil && googleAlone.obstacle(to: apple) == "PROVIDER_NOT_CONFIGURED")
        #expect(googleAlone.lane(of: google)?.service == .fcm)
        let apps = PushProviders([
            PushProviders.App(id: "shop", providers: [scene.apns]),
            PushProviders.App(id: "staff", providers: [scene.fcm]),
        ])
        var named = google
        for (app, lane, obstacle) in [
            ("staff", PushService.fcm, nil), ("shop", nil, "PROVIDER_NOT_CONFIGURED"),
            ("other", nil, "APP_NOT_CONFIGURED"),
        ] as [(String, PushService?, DeliveryReason?)] {
            named.appID = app
            #expect(apps.lane(of: named)?.service == lane, "\(app)")
            if let obstacle { #expect(apps.obstacle(to: named) == obstacle, "\(app)") }
        }
    }

    @Test("Apple's and Firebase's iPhones of one page each go their way")
    func mixedPage() async throws {
        try await OutboxHarness.with { harness in
            try await harness.add([
                Device.sample("d1", token: "aa11", user: "ann"),
                Device.sample("d2", token: "inst1:APA91b", user: "ann"),
                Device.sample("d3", token: "bb22", user: "ann"),
            ])
            try await harness.publish("m1")
            try await harness.running { _ in try await harness.deliveries { $0.are(3, .accepted) } }
            let google = harness.transport.sent.filter { $0.batch.pool.origin.contains("fcm") }
            #expect(google.map(\.token) == ["inst1:APA91b"] && harness.transport.sent.count == 3)
        }
    }

    @Test("a Firebase installation id goes out as fid, a token as token, in one batch")
    func installation() async throws {
        let scene = TestProviders()
        let payload = PushPayload(message: TestModels().message("m1"), topic: nil)
        let lane = try #require(scene.fcm.lane(of: Device.sample("d", token: "t", platform: .android)))
        var byID = PushTarget(token: "installation", deliveryID: DeliveryID("1"))
        byID.kind = .fid
        let order = PushOrder(
            payload: payload,
            lane: lane,
            targets: [byID, PushTarget(token: "tok", deliveryID: DeliveryID("2"))],
            deadline: scene.time.now().adding(seconds: 60)
        )
        await scene.fcm.send(order) { _, _ in }
        let bodies = scene.transport.sent.map(\.text)
        #expect(bodies.count == 2)
        #expect(bodies[0].hasPrefix(#"{"message":{"fid":"installation","#))
        #expect(bodies[1].hasPrefix(#"{"message":{"token":"tok","#))
    }
}

/// Every signature is another.
private final class CountingSigner: Signer {
    let algorithm = "ES256"
    private let count = Mutexed<UInt8>(0)

    func signature(for bytes: [UInt8]) throws(KeyError) -> [UInt8] {
        count.value.withLock { count in
            count += 1
            return [count]
        }
    }
}
