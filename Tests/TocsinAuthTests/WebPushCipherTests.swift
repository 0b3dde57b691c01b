import Encodings
import Testing
import TocsinAuth
import TocsinCore

/// The example of RFC 8291, appendix A, and the first of RFC 8188, section 3.
@Suite("Encryption for browsers")
struct WebPushCipherTests {
    private static let browserPoint =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    private static let authSecret = "BTBZMqHH6r4Tts7J_aSIgg"
    private let cipher = WebPushCipher()

    @Test("RFC 8291, appendix A: the same keys and salt give the same body")
    func rfc8291() throws {
        let receiver = try #require(cipher.receiver(p256dh: Self.browserPoint, auth: Self.authSecret))
        let scalar = try #require(Base64URL.decoded("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
        let sender = try P256Key(scalar: scalar)
        #expect(
            Base64URL.encoded(sender.point)
                == "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
        )
        let body = try cipher.encrypted(
            Array("When I grow up, I want to be a watermelon".utf8),
            for: receiver,
            sender: sender,
            salt: #require(Base64URL.decoded("DGv6ra1nlYgDCS1FRnbzlw"))
        )
        #expect(
            Base64URL.encoded(body)
                == "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLoc"
                + "InmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_"
                + "Qulcy4a-fN"
        )
    }

    @Test("RFC 8188, section 3.1: one record under a known key")
    func rfc8188() throws {
        let body = try WebPushCipher.encoded(
            Array("I am the walrus".utf8),
            key: #require(Base64URL.decoded("yqdlZ-tYemfogSmv7Ws5PQ")),
            salt: #require(Base64URL.decoded("I1BsxtFttlv3u_Oo94xnmw")),
            keyID: []
        )
        #expect(Base64URL.encoded(body) == "I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg")
    }

    @Test("each push has a key and a salt of its own")
    func freshKeys() throws {
        let receiver = try #require(cipher.receiver(p256dh: Self.browserPoint, auth: Self.authSecret))
        let bodies = try (0..<2).map { _ in try cipher.encrypted([1, 2, 3], for: receiver) }
        #expect(bodies[0][..<16] != bodies[1][..<16])
        #expect(bodies[0][21..<86] != bodies[1][21..<86])
        #expect(bodies[0].count == 86 + 3 + 1 + 16)
    }

    @Test("padding is forgiven, because some libraries add it")
    func padding() {
        #expect(cipher.receiver(p256dh: Self.browserPoint + "=", auth: Self.authSecret + "==") != nil)
    }

    @Test(
        "keys that are none are refused",
        arguments: badPoints.map { [$0, authSecret] } + badSecrets.map { [browserPoint, $0] }
    )
    func badKeys(_ keys: [String]) {
        #expect(cipher.receiver(p256dh: keys[0], auth: keys[1]) == nil)
    }

    private static let badPoints: [String] = [
        "", String(browserPoint.dropLast(4)), "B" + String(repeating: "A", count: 86),
        browserPoint.replacing("BCVx", with: "BCVy"), "A" + browserPoint.dropFirst(), browserPoint + "!",
    ]
    private static let badSecrets: [String] = ["", "BTBZMqHH6r4Tts7J_aSI", authSecret + "AA"]

    @Test("a VAPID key is read as it was printed, and signs what its public half verifies")
    func vapidKey() throws {
        let made = try VAPIDKey.make()
        let text = try made.privateText()
        #expect(text.utf8.count == 43)
        let read = try VAPIDKey(privateText: text)
        #expect(read.publicText == made.publicText)
        let bytes = Array("claims".utf8)
        let point = try #require(Base64URL.decoded(read.publicText))
        #expect(try PublicKey(point: point).verifies(read.signature(for: bytes), for: bytes))
        #expect("\(read)\(String(reflecting: read))".contains(text) == false)
    }

    @Test(
        "what is no VAPID key is refused with what to do",
        arguments: [
            "", "abc", String(repeating: "A", count: 43), "-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----",
        ]
    )
    func badVAPIDKeys(_ text: String) {
        #expect(throws: KeyError.self) { try VAPIDKey(privateText: text) }
    }
}
