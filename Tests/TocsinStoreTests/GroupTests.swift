import Testing
import TocsinCore
import TocsinStore

@Suite("Groups, admins and rights that change")
struct GroupTests {
    private static func account(_ name: String, isAdmin: Bool = false) -> Account {
        var account = Account(
            id: UserID("id-" + name),
            name: name,
            passwordHash: nil,
            isDisabled: false,
            createdAt: moment(1)
        )
        account.isAdmin = isAdmin
        return account
    }

    private static func group(_ name: String) -> Group {
        Group(id: GroupID("g-" + name), name: name, description: "d", createdBy: UserID("id-ann"), createdAt: moment(2))
    }

    private static let (ann, bob) = (account("ann", isAdmin: true), account("bob"))

    private func filled(_ store: SQLStore) async throws {
        try await store.write { writer throws(StoreError) in
            for account in [Self.ann, Self.bob] { try writer.save(account) }
            for name in ["ops", "dev"] { try writer.save(Self.group(name)) }
            for name in ["ops", "dev"] { _ = try writer.add(Self.bob.id, to: Self.group(name).id, at: moment(3)) }
        }
    }

    @Test("groups and members come back as saved, by name and by user", arguments: TestDatabase.available)
    func members(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await filled(store)
            try await store.read { reader throws(StoreError) in
                #expect(try reader.groups(after: "", limit: 9) == [Self.group("dev"), Self.group("ops")])
                #expect(try reader.groups(after: "dev", limit: 9) == [Self.group("ops")])
                #expect(try reader.group(named: "ops") == Self.group("ops"))
                #expect(try reader.groupCount() == 2)
                #expect(
                    try reader.groups(of: [Self.ann.id, Self.bob.id]).mapValues { $0.map(\.name) } == [
                        Self.bob.id: ["dev", "ops"]
                    ]
                )
                #expect(try reader.members(of: GroupID("g-ops"), after: nil, limit: 9) == [Self.bob])
                #expect(try reader.members(of: GroupID("g-ops"), after: Self.bob.id, limit: 9).isEmpty)
                let standings = try reader.standings(of: [Self.ann.id, Self.bob.id], tokensAt: nil)
                #expect(standings[Self.bob.id]?.account?.groups.sorted() == ["dev", "ops"])
                #expect(standings[Self.ann.id]?.account?.groups == [])
            }
            let again = try await store.write { writer throws(StoreError) in
                try writer.add(Self.bob.id, to: GroupID("g-ops"), at: moment(4))
            }
            #expect(!again)
        }
    }

    @Test("a maker's groups are listed and counted, and the right is kept", arguments: TestDatabase.available)
    func makers(database: TestDatabase) async throws {
        try await database.withStore { store in
            var (maker, others) = (Self.bob, Self.group("other"))
            maker.isGroupMaker = true
            others.createdBy = nil
            let (saved, other) = (maker, others)
            try await filled(store)
            let found = try await store.write { writer throws(StoreError) in
                try writer.save(saved)
                try writer.save(other)
                return try writer.account(saved.id)
            }
            #expect(found?.isGroupMaker == true)
            try await store.read { reader throws(StoreError) in
                let ann = Self.ann.id
                #expect(try reader.groups(madeBy: ann, after: "", limit: 9).map(\.name) == ["dev", "ops"])
                #expect(try reader.groups(madeBy: ann, after: "dev", limit: 9).map(\.name) == ["ops"])
                #expect(try reader.groupCount(madeBy: ann) == 2)
                #expect(try reader.groupCount(madeBy: Self.bob.id) == 0)
                #expect(try reader.account(ann)?.isGroupMaker == false)
            }
        }
    }

    @Test("a removed group is nobody's any more, and manages nothing", arguments: TestDatabase.available)
    func removal(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await filled(store)
            var robot = Self.account("robot")
            (robot.kind, robot.manager) = (.service, .group("ops"))
            let saved = robot
            let (before, after) = try await store.write { writer throws(StoreError) in
                try writer.save(saved)
                let before = try writer.account(saved.id)
                try writer.remove(Self.group("ops"), at: moment(4))
                return (before, try writer.account(saved.id))
            }
            #expect(before == saved)
            #expect(after?.manager == nil)
            #expect(after?.kind == .service)
            let left = try await store.read { reader throws(StoreError) in try reader.groups(of: [Self.bob.id]) }
            #expect(left[Self.bob.id]?.map(\.name) == ["dev"])
        }
    }

    @Test("what was a membership is kept with its bounds until it is forgotten", arguments: TestDatabase.available)
    func spans(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await filled(store)
            let spans = { @Sendable (since: Int64) async throws in
                try await store.read { reader throws(StoreError) in
                    try reader.groupSpans(of: Self.bob.id, since: moment(since)).sorted { $0.name < $1.name }
                }
            }
            let isIn = { GroupSpan(name: $0, joinedAt: moment(3), leftAt: nil) }
            #expect(try await spans(3) == [isIn("dev"), isIn("ops")])
            #expect(try await spans(4).isEmpty)
            try await store.write { writer throws(StoreError) in
                #expect(try writer.remove(Self.bob.id, from: Self.group("dev"), at: moment(5)))
                #expect(try !writer.remove(Self.ann.id, from: Self.group("dev"), at: moment(5)))
                try writer.remove(Self.group("ops"), at: moment(6))
            }
            let was = { GroupSpan(name: $0, joinedAt: moment(3), leftAt: moment($1)) }
            #expect(try await spans(4) == [was("dev", 5), was("ops", 6)])
            #expect(try await spans(6) == [was("ops", 6)])
            let forgotten = try await store.write { writer throws(StoreError) in
                try writer.removeLeftGroups(before: moment(6), limit: 10)
            }
            #expect(forgotten == 1)
            #expect(try await spans(1) == [was("ops", 6)])
        }
    }

    @Test("each change of rights is later than the one before, and is found again", arguments: TestDatabase.available)
    func rights(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await filled(store)
            let (first, second, nobody) = try await store.write { writer throws(StoreError) in
                (
                    try writer.changeRights(of: Self.bob.id, at: moment(50)),
                    try writer.changeRights(ofMembersOf: GroupID("g-ops"), at: moment(50)),
                    try writer.changeRights(of: UserID("nobody"), at: moment(50))
                )
            }
            let one = try #require(first)
            let two = try #require(second[Self.bob.id])
            #expect(second.count == 1 && one < two && nobody == nil)
            try await store.read { reader throws(StoreError) in
                #expect(try reader.rightsChanged(since: one) == [Self.bob.id: two])
                #expect(try reader.rightsChanged(since: two.adding(seconds: 1)).isEmpty)
                #expect(try reader.account(Self.bob.id)?.rightsChangedAt == two)
            }
        }
    }

    @Test(
        "the last admin is who no other admin stands beside; seen goes forward only",
        arguments: TestDatabase.available
    )
    func admins(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await filled(store)
            let isLast = try await store.write { writer throws(StoreError) in
                var answers = [try writer.isLastAdmin(Self.ann.id)]
                var bob = Self.bob
                bob.isAdmin = true
                try writer.save(bob)
                answers.append(try writer.isLastAdmin(Self.ann.id))
                bob.isDisabled = true
                try writer.save(bob)
                answers.append(try writer.isLastAdmin(Self.ann.id))
                try writer.noteSeen(bob.id, at: moment(9))
                try writer.noteSeen(bob.id, at: moment(8))
                return answers
            }
            #expect(isLast == [true, false, true])
            var (admins, disabled) = (AccountFilter(), AccountFilter())
            (admins.isAdmin, admins.isDisabled, disabled.isDisabled, disabled.kind) = (true, false, true, .local)
            let filters = [admins, disabled]
            let found = try await store.read { reader throws(StoreError) in
                [
                    try reader.accounts(matching: filters[0], after: "", limit: 9),
                    try reader.accounts(matching: filters[1], after: "", limit: 9),
                    try reader.accounts(matching: AccountFilter(), after: "ann", limit: 9),
                ]
            }
            #expect(found.map { $0.map(\.name) } == [["ann"], ["bob"], ["bob"]])
            #expect(found[1].first?.lastSeenAt == moment(9))
        }
    }
}
