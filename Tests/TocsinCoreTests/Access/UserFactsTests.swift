import Testing
import TocsinCore

@Suite("What tokens said of people")
struct UserFactsTests {
    @Test("claims are kept as they are, whatever texts they have")
    func claimsText() {
        for claims in [
            [:], ["cognito:groups": ["a", "b\tc\n\\d", "", "n\0l"], "email\t": ["\\n"]], ["x": ["é\u{301}🛎"]],
        ] as [[String: [String]]] {
            let facts = UserFacts(
                userID: UserID("sub-ann"),
                username: "ann",
                provider: .oidc,
                claims: claims,
                seenAt: Timestamp(milliseconds: 0)
            )
            #expect(UserFacts.claims(of: facts.claimsText) == claims)
        }
    }

    @Test(
        "a value keeps its line ends, whichever follows it",
        arguments: [["a\r", "b"], ["a\r\n", "\r"], ["\r\n"], ["a\n\rb", "\n"], ["\t\u{301}", "\u{301}"]]
    )
    func lineEnds(values: [String]) {
        let facts = Self.facts(["g": values, "h\r": ["x"]])
        let read = UserFacts.claims(of: facts.claimsText)
        #expect(read["g"].map { $0.map { Array($0.utf8) } } == values.map { Array($0.utf8) })
        #expect(read["h\r"] == ["x"])
    }

    @Test("equal claims are kept as equal texts, in whatever order they came")
    func order() {
        let names = (0..<20).map { "claim\($0)" }
        let forwards = Dictionary(uniqueKeysWithValues: names.map { ($0, ["v"]) })
        let backwards = Dictionary(uniqueKeysWithValues: names.reversed().map { ($0, ["v"]) })
        #expect(Self.facts(forwards).claimsText == Self.facts(backwards).claimsText)
        // The order of one claim's values is the token's.
        #expect(Self.facts(["g": ["a", "b"]]).claimsText != Self.facts(["g": ["b", "a"]]).claimsText)
    }

    @Test("nothing is noted of local users and API keys, and of others only what is asked for")
    func noted() throws {
        let now = Timestamp(milliseconds: 7)
        var caller = Identity(
            userID: UserID("sub-ann"),
            username: "ann",
            provider: .oidc,
            claims: ["email": ["a@b"], "cognito:groups": ["ops"]]
        )
        let facts = try #require(UserFacts(of: caller, naming: ["email", "missing"], at: now))
        #expect(facts.claims == ["email": ["a@b"]])
        #expect(facts.userID == caller.userID && facts.username == "ann" && facts.provider == .oidc)
        #expect(facts.seenAt == now)
        caller.tokenID = TokenID("t1")
        #expect(UserFacts(of: caller, naming: [], at: now) == nil)
        // The session of somebody who signed in at a provider has an id, too.
        caller.isOfProvider = true
        #expect(UserFacts(of: caller, naming: ["email"], at: now)?.claims == ["email": ["a@b"]])
        (caller.tokenID, caller.provider, caller.isOfProvider) = (nil, .apiKey, false)
        #expect(UserFacts(of: caller, naming: [], at: now) == nil)
        (caller.provider, caller.userID) = (.oidc, UserID(""))
        #expect(UserFacts(of: caller, naming: [], at: now) == nil)
    }

    private static func facts(_ claims: [String: [String]]) -> UserFacts {
        UserFacts(
            userID: UserID("sub-ann"),
            username: "ann",
            provider: .oidc,
            claims: claims,
            seenAt: Timestamp(milliseconds: 0)
        )
    }
}
