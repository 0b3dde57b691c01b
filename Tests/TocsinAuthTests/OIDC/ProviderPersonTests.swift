import JSON
import Testing
import TocsinAuth
import TocsinCore

@Suite("Who signed in, by the ID token")
struct ProviderPersonTests {
    private func person(
        _ claims: [String: JSONValue],
        _ change: (inout OIDCProvider) -> Void = { _ in }
    ) async throws -> ProviderPerson {
        let world = try SignInWorld(change)
        world.claim(claims)
        return try await world.walk().person
    }

    private func refusal(
        _ claims: [String: JSONValue],
        _ change: (inout OIDCProvider) -> Void = { _ in }
    ) async throws -> OIDCRefusal.Code? {
        let world = try SignInWorld(change)
        world.claim(claims)
        return await world.refusal()
    }

    @Test("has an id with the provider in it, or the bare subject in the user pool")
    func ids() async throws {
        #expect(try await person(["sub": "auth0|5f"], { $0.id = "work" }).userID == UserID("oidc:work:auth0|5f"))
        #expect(try await person(["sub": "auth0|5f"], { $0.isUserPool = true }).userID == UserID("auth0|5f"))
    }

    @Test("is nobody without a subject that can be one")
    func subjects() async throws {
        for subject in [.null, "", 7, "a::b", ":a", "a:", "a\nb", .string(String(repeating: "x", count: 257))]
            as [JSONValue]
        {
            #expect(try await refusal(["sub": subject]) == .personInvalid)
        }
        // With the provider in front it would be too long.
        #expect(try await refusal(["sub": .string(String(repeating: "x", count: 250))]) == .personInvalid)
        // Another provider's person, by a pool that says so.
        #expect(try await refusal(["sub": "oidc:work:1"], { $0.isUserPool = true }) == .personInvalid)
    }

    private static let names: [(claims: [String: JSONValue], name: String)] = [
        (["cognito:username": "al", "preferred_username": "alice"], "al"),
        ([:], "alice"),
        (["preferred_username": nil], "alice@example.com"),
        (["preferred_username": nil, "email": nil], "0f9d"),
    ]

    @Test("has the first name that the token gives", arguments: names)
    func username(claims: [String: JSONValue], name: String) async throws {
        #expect(try await person(claims).username == name)
    }

    @Test("is refused by a name that could be another's")
    func badNames() async throws {
        #expect(try await refusal(["preferred_username": "a::b"]) == .personInvalid)
        #expect(try await refusal(["preferred_username": 7]) == .personInvalid)
    }

    private static let groupClaims: [(path: String, claims: [String: JSONValue], groups: [String])] = [
        ("groups", ["groups": ["a", "b", "a"]], ["a", "b"]),
        ("groups", ["groups": "a"], ["a"]),
        ("groups", [:], []),
        ("cognito:groups", ["cognito:groups": ["a"]], ["a"]),
        ("realm_access.roles", ["realm_access": ["roles": ["a"]]], ["a"]),
        ("realm_access.roles", ["realm_access": "x"], []),
        ("https://app.example/groups", ["https://app.example/groups": ["a"]], ["a"]),
        ("https://app.example/groups", ["https://app": ["example/groups": ["a"]]], []),
        ("a.b", ["a.b": ["x"], "a": ["b": ["y"]]], ["x"]),
    ]

    @Test("has the groups of the claim, wherever it stands", arguments: groupClaims)
    func groups(path: String, claims: [String: JSONValue], groups: [String]) async throws {
        #expect(try await person(claims, { $0.groupsClaim = ClaimPath(path) }).groups == groups)
    }

    @Test("has no groups where the settings name no claim")
    func noClaim() async throws {
        #expect(try await person(["groups": ["admins"]]).groups.isEmpty)
        let overage: JSONValue = ["groups": "src1"]
        #expect(try await refusal(["_claim_names": overage]) == nil)
    }

    @Test("is not signed in without groups when the provider left them out")
    func overage() async throws {
        let named: (inout OIDCProvider) -> Void = { $0.groupsClaim = ClaimPath("groups") }
        #expect(try await refusal(["_claim_names": ["groups": "src1"]], named) == .groupsOverage)
        #expect(try await refusal(["hasgroups": true], named) == .groupsOverage)
        let many = JSONValue.array((0..<201).map { .string("group \($0)") })
        #expect(try await refusal(["groups": many], named) == .groupsOverage)
    }

    @Test(
        "is not signed in with groups that are none",
        arguments: [7, [7], ["a", .null], ["a::b"], [""]] as [JSONValue]
    )
    func malformed(value: JSONValue) async throws {
        let code = try await refusal(["groups": value]) { $0.groupsClaim = ClaimPath("groups") }
        #expect(code == .groupsMalformed)
    }

    @Test("comes in by an allowed group, and is an admin by another")
    func rights() async throws {
        let set: (inout OIDCProvider) -> Void = { settings in
            settings.groupsClaim = ClaimPath("groups")
            settings.allowedGroups = ["staff", "guests"]
            settings.adminGroups = ["admins"]
        }
        #expect(try await !person(["groups": ["staff"]], set).isAdmin)
        #expect(try await person(["groups": ["staff", "admins"]], set).isAdmin)
        #expect(try await refusal(["groups": ["admins"]], set) == .groupsNotAllowed)
        #expect(try await refusal([:], set) == .groupsNotAllowed)
    }

    @Test("is in no group whose name has other bytes, though its letters look alike")
    func spellings() async throws {
        let set: (inout OIDCProvider) -> Void = { settings in
            settings.groupsClaim = ClaimPath("groups")
            settings.allowedGroups = ["staff", "caf\u{E9}"]
            settings.adminGroups = ["caf\u{E9}"]
        }
        let both = try await person(["groups": ["staff", "cafe\u{301}", "caf\u{E9}"]], set)
        #expect(both.isAdmin && both.groups.count == 3)
        #expect(try await !person(["groups": ["staff", "cafe\u{301}"]], set).isAdmin)
        #expect(try await refusal(["groups": ["cafe\u{301}"]], set) == .groupsNotAllowed)
    }

    private static let requirements: [(text: String, claims: [String: JSONValue], isGood: Bool)] = [
        ("hd=example.com", ["hd": "example.com"], true),
        ("hd=example.com", [:], false),
        ("hd=example.com", ["hd": "example.com.evil"], false),
        ("email_verified=true", ["email_verified": true], true),
        ("email_verified=true", ["email_verified": false], false),
        ("level=3", ["level": 3], true),
        ("amr=mfa", ["amr": ["pwd", "mfa"]], true),
        ("a.b=c=d", ["a": ["b": "c=d"]], true),
    ]

    @Test("comes in only with the claims that are required", arguments: requirements)
    func required(text: String, claims: [String: JSONValue], isGood: Bool) async throws {
        let claim = try #require(RequiredClaim(text))
        let code = try await refusal(claims) { $0.requiredClaims = [claim] }
        #expect(code == (isGood ? nil : .claimRequired))
    }

    @Test("requires nothing that is not written as a claim and its value", arguments: ["", "hd", "=x", "hd="])
    func unreadable(text: String) {
        #expect(RequiredClaim(text) == nil)
    }

    @Test("tells when they signed in and in which session of the provider")
    func facts() async throws {
        let person = try await person(["auth_time": 1_800_000_050, "sid": "s-1", "department": ["x", "y"]])
        #expect(person.authenticatedAt == Timestamp(milliseconds: 1_800_000_050_000))
        #expect(person.providerSession == "s-1")
        #expect(person.claims["department"] == ["x", "y"])
        // A time that is none proves nothing, and breaks nothing.
        #expect(try await self.person(["auth_time": .int(.max)]).authenticatedAt == nil)
    }
}
