import Testing
import TocsinCore
import TocsinStore

@Suite("Identities in the store")
struct IdentityStoreTests {
    private static let ann = UserID("id-ann")

    private static func identity(_ id: String, subject: String, of user: UserID?, at second: Int64 = 1)
        -> SignInIdentity
    {
        SignInIdentity(
            id: id,
            issuer: "https://id.example",
            subject: subject,
            userID: user,
            provider: "default",
            name: "ann \u{1F600}",
            createdAt: moment(second)
        )
    }

    private static let account = Account(
        id: ann,
        name: "ann",
        passwordHash: nil,
        isDisabled: false,
        createdAt: moment(1)
    )

    @Test("an identity comes back as saved, by its subject byte by byte", arguments: TestDatabase.available)
    func roundTrip(database: TestDatabase) async throws {
        try await database.withStore { store in
            let own = Self.identity("b", subject: "sub", of: nil)
            let (first, second) = (
                Self.identity("a", subject: "SUB", of: Self.ann, at: 3),
                Self.identity("c", subject: "other", of: Self.ann, at: 2)
            )
            try await store.write { writer throws(StoreError) in
                try writer.save(Self.account)
                try writer.holdIdentity(issuer: own.issuer, subject: own.subject)
                for identity in [own, first, second, own] { try writer.save(identity) }
            }
            try await store.read { reader throws(StoreError) in
                #expect(try reader.identity(issuer: "https://id.example", subject: "sub") == own)
                #expect(try reader.identity(issuer: "https://id.example", subject: "SUB") == first)
                #expect(try reader.identity(issuer: "https://id.example/", subject: "sub") == nil)
                #expect(try reader.identity("c") == second)
                #expect(try reader.linkedIdentities(of: Self.ann) == [second, first])
                #expect(try reader.linkedIdentities(of: nil) == [second, first])
            }
            try await store.write { writer throws(StoreError) in try writer.remove(second) }
            try await store.read { reader throws(StoreError) in
                #expect(try reader.linkedIdentities(of: Self.ann) == [first])
            }
        }
    }

    @Test("two identities have no subject together", arguments: TestDatabase.available)
    func unique(database: TestDatabase) async throws {
        try await database.withStore { store in
            await #expect(throws: StoreError.self) {
                try await store.write { writer throws(StoreError) in
                    for id in ["a", "b"] { try writer.save(Self.identity(id, subject: "sub", of: nil)) }
                }
            }
        }
    }

    @Test("who has facts has things here, and nobody whose id only begins alike", arguments: TestDatabase.available)
    func things(database: TestDatabase) async throws {
        try await database.withStore { store in
            let facts = UserFacts(
                userID: UserID("oidc:p:1"),
                username: "ann",
                provider: .userPools,
                claims: [:],
                seenAt: moment(1)
            )
            try await store.write { writer throws(StoreError) in try writer.save(facts) }
            try await store.read { reader throws(StoreError) in
                #expect(try reader.hasThings(UserID("oidc:p:1")))
                for other in ["oidc:p:", "oidc:p:11", "oidc:p"] { #expect(try !reader.hasThings(UserID(other))) }
            }
        }
    }
}
