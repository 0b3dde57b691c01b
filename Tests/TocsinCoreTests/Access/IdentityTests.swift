import Encodings
import Testing
import TocsinCore

@Suite("Callers")
struct IdentityTests {
    private static let subject = "0190a000-0000-7000-8000-00000000000a"
    private static let ann = Identity(
        userID: UserID(subject),
        username: "ann",
        claims: ["email": ["ann@example.com"], "cognito:groups": ["ops", "dev"]]
    )

    @Test(
        "the owner texts of a caller are subject and name together, then each that cannot be taken for the other",
        arguments: [
            (subject, "ann", [subject + "::ann", subject, "ann"]),
            // A name of the form of a subject, and a subject that reads as a
            // name, say nothing alone.
            (
                subject, "0190a000-0000-7000-8000-00000000000b",
                ["\(subject)::0190a000-0000-7000-8000-00000000000b", subject]
            ),
            ("auth0|7", "ann", ["auth0|7::ann", "ann"]),
            // One half alone owns only what that half alone owns.
            (subject, "", [subject]), ("", "ann", ["ann"]),
            // Nobody else has this text, though no name is in it.
            ("auth0|7", "", ["auth0|7::"]), ("", "", []),
        ] as [(String, String, [String])]
    )
    func ownerForms(subject: String, name: String, forms: [String]) {
        let caller = Identity(userID: UserID(subject), username: name)
        #expect(caller.ownerForms == forms)
        #expect(caller.ownerForms(of: AccessRule.ownerClaim) == forms)
    }

    @Test(
        "a claim of two halves is both values joined, then each alone; one that lacks a half is nobody's",
        arguments: [
            ("email", ["ann@example.com"]), ("cognito:groups", ["ops", "dev"]), ("sub", [subject]),
            ("username", ["ann"]),
            ("cognito:username", ["ann"]), ("missing", []),
            ("cognito:username::sub", ["ann::" + subject, "ann", subject]),
            ("email::cognito:groups", ["ann@example.com::ops", "ann@example.com", "ops"]),
            ("email::missing", []), ("missing::email", []),
        ] as [(String, [String])]
    )
    func claims(claim: String, forms: [String]) {
        #expect(Self.ann.ownerForms(of: claim) == forms)
    }

    @Test("an API key owns nothing by any claim, and is meant by no text")
    func keys() {
        var key = Self.ann
        key.provider = .apiKey
        for claim in [AccessRule.ownerClaim, "email", "sub", "username"] {
            #expect(key.ownerForms(of: claim).isEmpty)
            #expect(!key.isMeant(by: "ann", claim: claim))
        }
    }

    @Test(
        "a text that a caller writes as an owner means them if it is their owner text or one half of it",
        arguments: [
            (subject + "::ann", AccessRule.ownerClaim, true), (subject, AccessRule.ownerClaim, true),
            ("ann", AccessRule.ownerClaim, true), ("bob", AccessRule.ownerClaim, false),
            ("ann::" + subject, AccessRule.ownerClaim, false), ("", AccessRule.ownerClaim, false),
            ("ann@example.com", "email", true), ("ann", "email", false), ("dev", "cognito:groups", true),
        ]
    )
    func meant(text: String, claim: String, isMeant: Bool) {
        #expect(Self.ann.isMeant(by: text, claim: claim) == isMeant)
    }

    @Test("a subject that reads as a name means its caller, though it owns nothing alone")
    func meantByHalf() {
        let caller = Identity(userID: UserID("auth0|7"), username: "ann")
        #expect(caller.isMeant(by: "auth0|7", claim: AccessRule.ownerClaim))
        #expect(!caller.ownerForms.contains("auth0|7"))
    }

    @Test(
        "the user pool satisfies rules for other issuers, which satisfy only their own; an API key is apart",
        arguments: [
            (.userPools, .userPools, true), (.userPools, .oidc, true), (.userPools, .apiKey, false),
            (.oidc, .userPools, false), (.oidc, .oidc, true), (.oidc, .apiKey, false),
            (.apiKey, .userPools, false), (.apiKey, .oidc, false), (.apiKey, .apiKey, true),
        ] as [(Identity.Provider, Identity.Provider, Bool)]
    )
    func providers(of caller: Identity.Provider, rule: Identity.Provider, isFrom: Bool) {
        var identity = Self.ann
        identity.provider = caller
        #expect(identity.isFrom(rule) == isFrom)
    }

    @Test(
        "a person has a subject and is no API key; who is complete has a name too",
        arguments: [
            ("s", "ann", .userPools, true, true), ("s", "", .oidc, true, false),
            ("", "ann", .userPools, false, false), ("s", "ann", .apiKey, false, true),
        ] as [(String, String, Identity.Provider, Bool, Bool)]
    )
    func persons(subject: String, name: String, provider: Identity.Provider, isPerson: Bool, isComplete: Bool) {
        let caller = Identity(userID: UserID(subject), username: name, provider: provider)
        #expect(caller.isPerson == isPerson)
        #expect(caller.isComplete == isComplete)
    }

    @Test("two callers are equal when all facts are, whoever they were made of")
    func equality() {
        let other = Identity(userID: Self.ann.userID, username: "ann", claims: Self.ann.claims)
        #expect(other == Self.ann)
        #expect(other.hashValue == Self.ann.hashValue)
        let changes: [(inout Identity) -> Void] = [
            { $0.userID = UserID("x") }, { $0.username = "x" }, { $0.scope = .readOnly }, { $0.tokenID = TokenID("x") },
            { $0.expiresAt = Timestamp(milliseconds: 1) }, { $0.provider = .oidc }, { $0.claims["email"] = nil },
            { $0.networks = [AddressNetwork("10.0.0.0/8")].compactMap(\.self) },
        ]
        for change in changes {
            var changed = Self.ann
            change(&changed)
            #expect(changed != Self.ann)
        }
    }

    @Test("a changed copy leaves the one it was made of as it was")
    func copies() {
        var copy = Self.ann
        copy.username = "bob"
        #expect(copy.owner == Self.subject + "::bob")
        #expect(Self.ann.owner == Self.subject + "::ann")
        #expect(copy.reads == .owner(Self.subject + "::bob"))
    }

    @Test(
        "a text of the form of a UUID is a subject, and no other",
        arguments: [
            (subject, true), (subject.uppercased(), true), ("FFFFFFFF-ffff-0000-9999-AaBbCcDdEeFf", true), ("", false),
            (String(subject.dropLast()), false), (subject + "0", false),
            ("0190a0000000-7000-8000-00000000000a-", false), ("0190g000-0000-7000-8000-00000000000a", false),
            ("{190a000-0000-7000-8000-00000000000}", false), ("0190a000_0000_7000_8000_00000000000a", false),
            // 36 bytes of which some are no digits.
            ("é190a00-0000-7000-8000-00000000000a", false),
        ]
    )
    func subjects(text: String, isSubject: Bool) {
        #expect(OwnerText.isSubject(text) == isSubject)
    }
}

@Suite("API keys")
struct APIKeyRuleTests {
    private static let key = APIKey(
        id: TokenID("k1"),
        name: "pager",
        digest: "d",
        createdAt: Timestamp(milliseconds: 1000),
        expiresAt: Timestamp(milliseconds: 2000)
    )

    @Test("a key is good until the moment it is over, and never once it was revoked")
    func good() {
        #expect(Self.key.isGood(at: Timestamp(milliseconds: 1999)))
        #expect(!Self.key.isGood(at: Timestamp(milliseconds: 2000)))
        var revoked = Self.key
        revoked.revokedAt = Timestamp(milliseconds: 1500)
        // The moment it was revoked at says when, and not from when.
        #expect(!revoked.isGood(at: Timestamp(milliseconds: 1400)))
    }

    @Test("its bearer is the key, who ends with it, and no person")
    func bearer() {
        let bearer = Self.key.identity
        #expect(bearer.userID == UserID("key-k1"))
        #expect(bearer.tokenID == Self.key.id)
        #expect(bearer.expiresAt == Self.key.expiresAt)
        #expect(bearer.provider == .apiKey && !bearer.isPerson)
    }
}
