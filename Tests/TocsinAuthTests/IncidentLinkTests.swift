import Testing
import TocsinAuth
import TocsinCore

@Suite("Action links as text")
struct IncidentLinkTests {
    private static let incident = "0193a5f0-6f6e-7bb3-a3c5-5d0f0c6a1c9e"

    private static func link(_ bearer: IncidentLink.Bearer) -> IncidentLink {
        IncidentLink(
            .snooze,
            incident: incident,
            bearer: bearer,
            number: 1031,
            endsAt: Timestamp(milliseconds: 1_800_000_000_000)
        )
    }

    @Test("what was sealed is read again, whoever bears it; no two tokens are the same")
    func roundTrip() throws {
        let sealer = KeySealer(try ServerKey(secret: [UInt8](repeating: 7, count: 32)))
        for bearer in [
            IncidentLink.Bearer.user(UserID("u-1")), .user(UserID("a\nb")), .webhook("chat"), .webhook(""),
        ] {
            let link = Self.link(bearer)
            let token = try #require(link.token(sealer))
            #expect(IncidentLink(token: token, sealer) == link)
            #expect(link.token(sealer) != token)
            #expect(!token.contains(Self.incident) && token.utf8.count <= 512)
        }
    }

    @Test("a bearer whose name is too long has no link; what was changed, cut or sealed elsewhere is none")
    func refused() throws {
        let sealer = KeySealer(try ServerKey(secret: [UInt8](repeating: 7, count: 32)))
        let other = KeySealer(try ServerKey(secret: [UInt8](repeating: 8, count: 32)))
        #expect(Self.link(.user(UserID(String(repeating: "x", count: 400)))).token(sealer) == nil)
        let token = try #require(Self.link(.webhook("chat")).token(sealer))
        #expect(IncidentLink(token: token, other) == nil)
        for text in ["", "x", String(token.dropLast()), token + "A", String(token.reversed()), token + token + token] {
            #expect(IncidentLink(token: text, sealer) == nil)
        }
        #expect(IncidentLink(token: sealer.seal(Array("a\nb".utf8), scope: "incident-link"), sealer) == nil)
        #expect(IncidentLink(token: sealer.seal([1, 2, 3], scope: "page"), sealer) == nil)
    }
}
