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
}
