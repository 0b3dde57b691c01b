import Encodings
import TocsinAuth
import TocsinCore
import Testing

@Suite("Codes and digests")
struct CodingTests {
    @Test("base 64 for URLs round-trips every length", arguments: 0..<70)
    func roundTrip(length: Int) {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 37 + 251) }
        #expect(Base64URL.decoded(Base64URL.encoded(bytes)) == bytes)
    }

    @Test(
        "the vectors of RFC 4648 and RFC 7515 hold",
        arguments: [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("foobar", "Zm9vYmFy")]
    )
    func vectors(plain: String, text: String) {
        #expect(Base64URL.encoded(Array(plain.utf8)) == text)
        #expect(Base64URL.decoded(text) == Array(plain.utf8))
    }

    @Test("there is one text for each value", arguments: ["Zg==", "Zh", "Z", "Zm9", "Zm+v", "Zm/v", "Zm 9v", "Zm9vé"])
    func strictness(text: String) {
        #expect(Base64URL.decoded(text) == nil)
    }

    @Test("SHA-256, HMAC and HKDF agree with their standards")
    func digests() {
        #expect(
            hex(Digest.sha256(Array("abc".utf8))) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
        #expect(
            hex(Digest.hmacSHA256(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8)))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        )
        // RFC 5869 A.3, without salt and info; the first 32 bytes.
        #expect(
            hex(Digest.derivedKey(from: [UInt8](repeating: 0x0B, count: 22), purpose: []))
                == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
        )
    }

    @Test("random bytes do not repeat")
    func random() {
        #expect(RandomBytes.make(32).count == 32)
        #expect(RandomBytes.make(32) != RandomBytes.make(32))
    }

    @Test("a password verifies against its own text only")
    func passwords() throws {
        let text = try PasswordHash.make("correct horse")
        #expect(text.hasPrefix("$scrypt$ln=15,r=8,p=1$"))
        #expect(PasswordHash.verify("correct horse", against: text))
        #expect(!PasswordHash.verify("correct horsf", against: text))
        #expect(text != (try PasswordHash.make("correct horse")))
    }

    @Test("a hash made by another implementation verifies")
    func foreignPassword() {
        #expect(PasswordHash.verify("open sesame", against: Fixtures.passwordHash))
        #expect(!PasswordHash.verify("open sesamf", against: Fixtures.passwordHash))
    }

    @Test(
        "a stored text that cannot be read, or asks for too much, verifies nothing",
        arguments: [
            "", "open sesame", "$scrypt$", "$scrypt$ln=30,r=8,p=1$AAAA$AAAA", "$scrypt$ln=15,r=8,p=1$$",
            "$scrypt$ln=15,r=8,p=99$AAECAwQFBgcICQoLDA0ODw$AAECAwQFBgcICQoLDA0ODw", "$2b$12$abcdefghijklmnopqrstuv",
        ]
    )
    func badHashes(text: String) {
        #expect(!PasswordHash.verify("open sesame", against: text))
    }

    @Test("an empty or endless password is refused", arguments: ["", String(repeating: "x", count: 1025)])
    func badPasswords(password: String) {
        #expect(throws: KeyError.self) { try PasswordHash.make(password) }
    }

    /// The two ways in which a sealer protects a text.
    enum Protection: CaseIterable {
        case sealed, signed

        func text(_ bytes: [UInt8], _ scope: String, by sealer: KeySealer) -> String {
            self == .sealed ? sealer.seal(bytes, scope: scope) : sealer.sign(bytes, scope: scope)
        }

        func bytes(_ text: String, _ scope: String, by sealer: KeySealer) -> [UInt8]? {
            self == .sealed ? sealer.open(text, scope: scope) : sealer.verified(text, scope: scope)
        }
    }

    @Test(
        "a protected text opens under its own key and scope only, and no character of it can change",
        arguments: Protection.allCases
    )
    func sealing(_ protection: Protection) throws {
        let sealer = KeySealer(try ServerKey(secret: [UInt8](repeating: 1, count: 32)))
        let other = KeySealer(try ServerKey(secret: [UInt8](repeating: 2, count: 32)))
        let bytes = Array("topic-1/42".utf8)
        let text = protection.text(bytes, "alice/messages", by: sealer)
        #expect(protection.bytes(text, "alice/messages", by: sealer) == bytes)
        #expect(protection.bytes(text, "bob/messages", by: sealer) == nil)
        #expect(protection.bytes(text, "alice/messages", by: other) == nil)
        for index in text.indices {
            var changed = text
            changed.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
            #expect(protection.bytes(changed, "alice/messages", by: sealer) == nil, "\(changed)")
        }
        for text in ["", "A", "AAAA", text + "A", text + "=", String(repeating: "A", count: 20_000)] {
            #expect(protection.bytes(text, "alice/messages", by: sealer) == nil)
        }
        #expect(protection.bytes(protection.text([], "", by: sealer), "", by: sealer) == [])
    }

    @Test("what is sealed shows nothing of itself, and is no signed text of before")
    func secrecy() throws {
        let sealer = KeySealer(try ServerKey(secret: [UInt8](repeating: 1, count: 32)))
        let secret = Array("[\"a secret value\"]".utf8)
        let texts = (0..<2).map { _ in sealer.seal(secret, scope: "page") }
        #expect(texts[0] != texts[1])
        for text in texts {
            let bytes = try #require(Base64URL.decoded(text))
            #expect(bytes.firstRange(of: secret.prefix(4)) == nil)
            #expect(sealer.verified(text, scope: "page") == nil)
        }
        #expect(sealer.open(sealer.sign(secret, scope: "page"), scope: "page") == nil)
    }

    @Test("a cursor of an earlier release is still good: its signature has not changed")
    func earlierCursor() throws {
        let sealer = KeySealer(try ServerKey(secret: [UInt8](repeating: 1, count: 32)))
        let cursor = "MTcgdG9waWMtMQY6de4JmBpGzTsJYnqT3wk"
        #expect(sealer.verified(cursor, scope: "cursor") == Array("17 topic-1".utf8))
    }

    @Test("a scope and a value cannot trade bytes")
    func signingBorders() throws {
        let sealer = KeySealer(try ServerKey(secret: [UInt8](repeating: 1, count: 32)))
        let proof = try #require(Base64URL.decoded(sealer.sign(Array("bc".utf8), scope: "a"))).suffix(16)
        #expect(sealer.verified(Base64URL.encoded(Array("c".utf8) + proof), scope: "ab") == nil)
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
