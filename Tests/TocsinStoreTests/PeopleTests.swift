import Encodings
import Testing
import TocsinCore
import TocsinStore

@Suite("Memberships, devices and accounts")
struct PeopleTests {
    private let models = TestModels()

    @Test("a membership is saved, changed and removed", arguments: TestDatabase.available)
    func memberships(database: TestDatabase) async throws {
        let (ann, models) = (UserID("ann"), models)
        let first = Membership(topicID: TopicID("t1"), userID: ann, push: true, createdAt: moment(5))
        let second = Membership(topicID: TopicID("t2"), userID: ann, push: true, createdAt: moment(6))
        try await database.withStore { store in
            try await store.insert([models.topic("t1"), models.topic("t2")])
            let all = try await store.write { writer throws(StoreError) in
                try writer.save(second)
                try writer.save(first)
                try writer.save(Membership(topicID: second.topicID, userID: ann, push: false, createdAt: moment(6)))
                return try writer.memberships(of: ann)
            }
            #expect(all.map(\.topicID) == [first.topicID, second.topicID])
            #expect(all.map(\.push) == [true, false])
            let left = try await store.write { writer throws(StoreError) in
                try writer.removeMembership(of: ann, in: first.topicID)
                return [
                    try writer.membership(of: ann, in: first.topicID),
                    try writer.membership(of: ann, in: second.topicID),
                ]
            }
            #expect(left.map { $0?.topicID } == [nil, second.topicID])
        }
    }

    @Test("devices come back by user, id and token, all fields kept", arguments: TestDatabase.available)
    func devices(database: TestDatabase) async throws {
        var phone = Device.test("d2", user: "ann", token: "aa")
        phone.environment = .sandbox
        phone.name = "Ann's phone"
        phone.isActive = false
        phone.disabledReason = "Unregistered"
        let browser = Device.test("d1", user: "ann", platform: .web, token: "bb")
        var elsewhere = Device.test("d3", user: "bob", token: "aa")
        elsewhere.appID = "other.app"
        let devices = [phone, browser, elsewhere]
        try await database.withStore { store in
            try await store.save(devices: devices)
            try await store.read { reader throws(StoreError) in
                #expect(try reader.devices(of: UserID("ann")) == [devices[1], devices[0]])
                #expect(try reader.devices(token: "aa") == [devices[0], devices[2]])
                #expect(
                    Set(try reader.devices(ids: ["d1", "d3", "d9"].map(DeviceID.init))) == [devices[1], devices[2]]
                )
                #expect(try reader.devices(ids: []).isEmpty)
            }
        }
    }

    @Test("devices are read with their owner's wish for no pushes", arguments: TestDatabase.available)
    func muting(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await store.save(devices: [Device.test("d1", user: "ann"), Device.test("d2", user: "bob")])
            for isMuted in [true, true, false, false, true] {
                try await store.write { writer throws(StoreError) in
                    try writer.setMuted(isMuted, of: UserID("ann"), now: moment(5))
                }
                let (devices, ann, bob) = try await store.read { reader throws(StoreError) in
                    (
                        try reader.devices(ids: [DeviceID("d1"), DeviceID("d2")]), try reader.isMuted(UserID("ann")),
                        try reader.isMuted(UserID("bob"))
                    )
                }
                #expect(devices.filter(\.isMuted).map(\.id) == (isMuted ? [DeviceID("d1")] : []))
                #expect(ann == isMuted)
                #expect(!bob)
            }
        }
    }

    @Test("a device is retired only if it was not registered again since", arguments: TestDatabase.available)
    func retiring(database: TestDatabase) async throws {
        var device = Device.test("d1", user: "ann", token: "aa")
        device.registeredAt = moment(100)
        let stored = device
        try await database.withStore { store in
            try await store.save(devices: [stored])
            let answers = try await store.write { writer throws(StoreError) in
                [
                    try writer.retireDevice(stored.id, reason: "Unregistered", registeredBy: moment(99)),
                    try writer.retireDevice(stored.id, reason: "Unregistered", registeredBy: moment(100)),
                    try writer.retireDevice(stored.id, reason: "Unregistered", registeredBy: moment(100)),
                ]
            }
            #expect(answers == [false, true, false])
            let found = try await store.read { reader throws(StoreError) in try reader.devices(ids: [stored.id]) }
            #expect(found.first?.isActive == false)
            #expect(found.first?.disabledReason == "Unregistered")
        }
    }

    @Test("lists longer than one statement takes are read whole", arguments: TestDatabase.available)
    func longLists(database: TestDatabase) async throws {
        let devices = (0..<1300).map { Device.test("d\(1000 + $0)", user: "ann", token: "t\($0)") }
        try await database.withStore { store in
            try await store.save(devices: devices)
            let found = try await store.read { reader throws(StoreError) in try reader.devices(ids: devices.map(\.id)) }
            #expect(found.count == devices.count)
        }
    }

    @Test(
        "all that a token's row says comes back, and its last use is not overwritten",
        arguments: TestDatabase.available
    )
    func tokenRows(database: TestDatabase) async throws {
        let ann = Account(id: UserID("u1"), name: "ann", passwordHash: nil, isDisabled: false, createdAt: moment(1))
        let words = ["device", "read:a b", "publish:t1", "publish:t2"]
        var token = IssuedToken(
            id: TokenID("k1"),
            userID: ann.id,
            scope: try #require(Identity.Scope(words: words)),
            createdAt: moment(1),
            expiresAt: moment(9)
        )
        (token.name, token.createdBy, token.changedAt) = ("phone", UserID("u2"), moment(4))
        (token.rotatedTo, token.narrowedAt) = (TokenID("k9"), moment(3))
        token.networks = ["10.0.0.0/8", "fd00::/8"].compactMap { AddressNetwork($0) }
        try await database.withStore { [token] store in
            try await store.write { writer throws(StoreError) in
                try writer.save(ann)
                try writer.save(token)
                try writer.note([.init(id: token.id, isKey: false, at: moment(8), network: "10.0.0.0/24")])
                try writer.note([.init(id: token.id, isKey: false, at: moment(7), network: "::/48")])
                try writer.save(token)
            }
            var used = token
            (used.lastUsedAt, used.lastUsedFrom) = (moment(8), "10.0.0.0/24")
            let expected = used
            try await store.read { reader throws(StoreError) in
                #expect(try reader.token(token.id) == expected)
                #expect(try reader.changedTokens(endingAfter: moment(8)) == [expected])
                #expect(try reader.changedTokens(endingAfter: moment(9)).isEmpty)
                #expect(try reader.tokens(of: ann.id, after: nil, limit: 5) == [expected])
                #expect(try reader.tokens(of: nil, after: token.id, limit: 5).isEmpty)
                let (before, after) = (
                    try reader.tokenCounts(of: ann.id, at: moment(8)), try reader.tokenCounts(of: ann.id, at: moment(9))
                )
                #expect(before.all == 1 && before.good == 1 && after.all == 1 && after.good == 0)
                let standings = try reader.standings(of: [ann.id], tokensAt: moment(5))
                #expect(standings[ann.id]?.hasToken == true, "a device's token reads")
            }
        }
    }

    @Test("rows of the release before keep their meaning", arguments: TestDatabase.available)
    func oldTokenRows(database: TestDatabase) async throws {
        let ann = Account(id: UserID("u1"), name: "ann", passwordHash: nil, isDisabled: false, createdAt: moment(1))
        let old: [(String, Identity.Scope)] = [
            ("full", .full), ("read", .readOnly), ("push", .push), ("publish:a:b", .publish(topic: "a:b")),
        ]
        let made = try database.make()
        let store = try await SQLStore.open(made, at: moment(0))
        try await store.write { writer throws(StoreError) in try writer.save(ann) }
        let connection = try made.connect(.tool)
        for (text, _) in old {
            try connection.run(
                "INSERT INTO tokens (id, user_id, scope, created_at, expires_at) VALUES ($1, 'u1', $1, 1, 2)",
                [.text(text)]
            )
        }
        connection.close()
        try await store.read { reader throws(StoreError) in
            for (text, scope) in old {
                let token = try reader.token(TokenID(text))
                #expect(token?.scope == scope && token?.networks == [] && token?.name == "")
            }
        }
        await store.close()
    }

    @Test(
        "a person's digests and their places come back as saved, and only their owner's",
        arguments: TestDatabase.available
    )
    func digests(database: TestDatabase) async throws {
        let owner = ScheduledMessage.Owner(userID: UserID("ann"), username: "ann", provider: .userPools)
        var plan = PersonalDigest.Plan(name: "Morning", atMinutes: 485, timeZone: "Europe/Berlin")
        (plan.topicIDs, plan.days, plan.minPriority) = ([TopicID("t1"), TopicID("t2")], [1, 5], 3)
        (plan.skipsEmpty, plan.url) = (false, "https://app.example/feed")
        var digest = PersonalDigest(id: "d1", owner: owner, plan: plan, createdAt: moment(1))
        (digest.lastMessageID, digest.lastAt, digest.missed) = (MessageID("m"), moment(2), 4)
        (digest.nextAt, digest.generation, digest.updatedAt) = (moment(3), 9, moment(4))
        let whole = digest
        let bare = PersonalDigest(
            id: "d2",
            owner: owner,
            plan: PersonalDigest.Plan(name: "All", atMinutes: 0, timeZone: "UTC"),
            createdAt: moment(1)
        )
        let places = [
            DigestPlace(topicID: TopicID("t1"), minPriority: 1, number: 7),
            DigestPlace(topicID: TopicID("t1"), minPriority: 3, number: 5),
        ]
        try await database.withStore { store in
            try await store.write { writer throws(StoreError) in
                #expect(try writer.insert(whole))
                #expect(try writer.insert(bare))
                #expect(try !writer.insert(bare))
                for place in places { try writer.save(place, of: owner.userID) }
                var foreign = bare
                foreign.owner.userID = UserID("eve")
                try writer.save(foreign)
            }
            try await store.read { reader throws(StoreError) in
                #expect(try reader.digests(of: owner.userID) == [whole, bare])
                #expect(try reader.digest("d1") == whole)
                #expect(try reader.digests(of: UserID("eve")).isEmpty)
                #expect(try reader.digestPlaces(of: owner.userID) == places)
                #expect(try reader.digestUsers(after: "", limit: 9).isEmpty)
            }
            try await store.write { writer throws(StoreError) in
                try writer.remove(places[0], of: owner.userID)
                try writer.removeDigest("d1")
                #expect(try writer.digests(of: owner.userID) == [bare])
                #expect(try writer.digestPlaces(of: owner.userID) == [places[1]])
            }
        }
    }

    @Test(
        "timers that are due come without those of owners who wait, and failed ones alone",
        arguments: TestDatabase.available
    )
    func timers(database: TestDatabase) async throws {
        let rows: [(String, String?, Int64)] = [("a", "ann", 1), ("b", nil, 2), ("c", "bob", 3), ("d", "ann", 9)]
        let timers = rows.map { subject, owner, dueAt in
            TimerEntry(kind: .message, subject: subject, owner: owner.map { UserID($0) }, dueAt: moment(dueAt))
        }
        try await database.withStore { store in
            try await store.write { writer throws(StoreError) in
                for timer in timers { try writer.set(timer) }
                try writer.record(timers[3].failed("no luck", at: moment(9)), of: timers[3])
            }
            try await store.read { reader throws(StoreError) in
                func due(_ others: Set<UserID>) throws(StoreError) -> [String] {
                    try reader.dueTimers(of: [.message], at: moment(5), besides: others, limit: 9).map(\.subject)
                }
                #expect(try due([]) == ["a", "b", "c"])
                #expect(try due([UserID("ann")]) == ["b", "c"])
                #expect(try due([UserID("ann"), UserID("bob"), UserID("x")]) == ["b"])
                #expect(
                    try reader.timers(failedOnly: false, limit: 9).map(\.owner?.text) == ["ann", nil, "bob", "ann"]
                )
                #expect(try reader.timers(failedOnly: true, limit: 9).map(\.error) == ["no luck"])
            }
        }
    }

    @Test("accounts and tokens come back as saved; names are unique", arguments: TestDatabase.available)
    func accounts(database: TestDatabase) async throws {
        let ann = Account(id: UserID("u1"), name: "ann", passwordHash: "$x", isDisabled: false, createdAt: moment(1))
        var bob = Account(id: UserID("u2"), name: "bob", passwordHash: nil, isDisabled: false, createdAt: moment(2))
        let scopes: [Identity.Scope] = [.full, .readOnly, .publish(topic: "a:b")]
        let tokens = scopes.enumerated().map { index, scope in
            IssuedToken(
                id: TokenID("k\(index)"),
                userID: ann.id,
                scope: scope,
                createdAt: moment(1),
                expiresAt: moment(9),
                revokedAt: index == 0 ? moment(3) : nil
            )
        }
        try await database.withStore { [bob] store in
            try await store.write { writer throws(StoreError) in
                try writer.save(bob)
                try writer.save(ann)
                for token in tokens { try writer.save(token) }
            }
            try await store.read { reader throws(StoreError) in
                #expect(try reader.accounts() == [ann, bob])
                #expect(try reader.account(named: "bob") == bob)
                #expect(try reader.account(UserID("u9")) == nil)
                #expect(try reader.tokens(of: ann.id) == tokens)
                #expect(try reader.tokens(of: bob.id).isEmpty)
                #expect(try reader.tokens(of: nil) == tokens)
                #expect(try reader.revokedTokens() == [tokens[0]])
                #expect(try reader.disabledAccounts().isEmpty)
                #expect(try reader.token(TokenID("k2")) == tokens[2])
            }
        }
        bob.isDisabled = true
        let (disabled, twin) = (
            bob, Account(id: UserID("u3"), name: "ann", passwordHash: nil, isDisabled: false, createdAt: moment(1))
        )
        try await database.withStore { store in
            try await store.write { writer throws(StoreError) in try writer.save(ann) }
            let found = try await store.write { writer throws(StoreError) in
                try writer.save(disabled)
                return (try writer.account(disabled.id), try writer.disabledAccounts())
            }
            #expect(found.0 == disabled)
            #expect(found.1 == [disabled])
            await #expect(throws: StoreError.self) {
                try await store.write { writer throws(StoreError) in try writer.save(twin) }
            }
        }
    }
}

extension Device {
    static func test(_ id: String, user: String, platform: PushPlatform = .ios, token: String? = nil) -> Device {
        Device(
            id: DeviceID(id),
            userID: UserID(user),
            platform: platform,
            environment: nil,
            appID: "app",
            token: token ?? "token-" + id,
            name: nil,
            registeredAt: moment(1),
            lastSeenAt: moment(2)
        )
    }
}

extension Store {
    func save(devices: [Device]) async throws {
        try await write { writer throws(StoreError) in
            for device in devices { try writer.save(device) }
        }
    }
}
