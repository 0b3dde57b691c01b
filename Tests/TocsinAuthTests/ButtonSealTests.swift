import Testing
import TocsinAuth
import TocsinCore

@Suite("Buttons that call, as text")
struct ButtonSealTests {
    private static func sealer(_ byte: UInt8 = 7) throws -> KeySealer {
        KeySealer(try ServerKey(secret: [UInt8](repeating: byte, count: 32)))
    }

    private static func call(
        headers: [String: String] = [:],
        body: String = "",
        title: String = "Open"
    ) -> ButtonCall {
        let url = "https://a.example/?b=c"
        let call = SenderEvent.Call(method: "PUT", url: url, headers: headers, body: body)
        return ButtonCall(call, title: title, integrationID: "i-1")
    }

    @Test(
        "a call that was sealed is read again, whatever is in it",
        arguments: [
            call(), call(headers: ["A": "b: c", "Authorization": "Bearer x", "E": ""], body: "one\n\ntwo\n"),
            call(body: "\n\n"), call(headers: ["Ü": "ü"], body: "{\"a\": 1}", title: "🚪 Auf"), call(title: ""),
            call(headers: ["A": "\u{301}a"], body: "\u{301}\r\n", title: "\u{301}e"),
        ]
    )
    func roundTrip(call: ButtonCall) throws {
        let sealer = try Self.sealer()
        let text = call.sealed(sealer)
        #expect(ButtonCall(sealed: text, sealer) == call)
        #expect(text.utf8.allSatisfy { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 > 0x20 })
        #expect(ButtonCall(sealed: text, try Self.sealer(8)) == nil)
        for changed in ["", "x", String(text.dropLast()), text + "A"] {
            #expect(ButtonCall(sealed: changed, sealer) == nil)
        }
    }

    @Test("a link is read again by this server alone, and is none to an incident; nor is one to an incident a button")
    func links() throws {
        let sealer = try Self.sealer()
        for user in ["u-1", "a\nb", ""] {
            let link = ButtonLink("http1", of: MessageID("m-1"), by: UserID(user))
            let token = try #require(link.token(sealer))
            #expect(ButtonLink(token: token, sealer) == link && token.utf8.count <= 512)
            #expect(ButtonLink(token: token, try Self.sealer(8)) == nil)
            #expect(IncidentLink(token: token, sealer) == nil)
        }
        let long = ButtonLink("http1", of: MessageID(String(repeating: "m", count: 400)), by: UserID("u"))
        #expect(long.token(sealer) == nil)
        let end = Timestamp(milliseconds: 1_800_000_000_000)
        let other = IncidentLink(.resolve, incident: "a", bearer: .user(UserID("u")), number: 1, endsAt: end)
        #expect(ButtonLink(token: try #require(other.token(sealer)), sealer) == nil)
    }
}
