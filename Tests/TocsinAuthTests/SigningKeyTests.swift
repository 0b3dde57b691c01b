import Encodings
import TocsinAuth
import TocsinCore
import Testing

@Suite("Keys")
struct SigningKeyTests {
    @Test(
        "a private key is read in every form people paste",
        arguments: [
            ("ES256", Fixtures.ecPKCS8), ("ES256", Fixtures.ecSEC1), ("RS256", Fixtures.rsaPKCS8),
            ("RS256", Fixtures.rsaPKCS1), ("ES256", Fixtures.ecPKCS8.replacing("\n", with: "\\n")),
            ("ES256", Fixtures.ecPKCS8.replacing("\n", with: "\r\n")), ("ES256", "\n  " + Fixtures.ecPKCS8 + "\n\n"),
            ("RS256", base64(Fixtures.rsaPKCS8)), ("ES256", base64(Fixtures.ecPKCS8 + "\n")),
        ]
    )
    func forms(algorithm: String, text: String) throws {
        let key = try PrivateKey(pem: text)
        #expect(key.algorithm == algorithm)
        #expect(try !key.signature(for: [1, 2, 3]).isEmpty)
    }

    @Test(
        "what is no usable private key is refused with what it is instead",
        arguments: [
            ("P-256", Fixtures.ecP384), ("at least 2048", Fixtures.rsaShort), ("passphrase", Fixtures.ecEncrypted),
            ("public key", Fixtures.ecPublic), ("certificate", Fixtures.certificate), ("contents", "/etc/key.p8"),
            ("PEM", ""), ("cannot be read", Fixtures.ecPKCS8.replacing("MIG", with: "AAA")),
            ("cannot be read", String(Fixtures.ecPKCS8.prefix(120))),
            ("32 KiB", String(repeating: "a", count: 40_000)),
        ]
    )
    func refusals(word: String, text: String) {
        let error = #expect(throws: KeyError.self) { try PrivateKey(pem: text) }
        #expect(error?.description.contains(word) == true, "\(String(describing: error))")
    }

    @Test("an ES256 signature is 64 bytes that the public key verifies, and nothing else does")
    func es256() throws {
        let key = try PrivateKey(pem: Fixtures.ecPKCS8)
        let set = try KeySet(json: Array(Fixtures.keySet.utf8))
        let publicKey = try #require(set.key(id: "ec-1"))
        for length in 0..<40 {
            let bytes = [UInt8](repeating: 9, count: length)
            var signature = try key.signature(for: bytes)
            #expect(signature.count == 64)
            #expect(publicKey.verifies(signature, for: bytes))
            #expect(!publicKey.verifies(signature, for: bytes + [0]))
            #expect(!publicKey.verifies(signature + [0], for: bytes))
            signature[length] ^= 1
            #expect(!publicKey.verifies(signature, for: bytes))
        }
        #expect(!publicKey.verifies([UInt8](repeating: 0, count: 64), for: []))
        #expect(!publicKey.verifies([], for: []))
    }

    @Test("keys and secrets show nothing of themselves")
    func redaction() throws {
        let secret = Array("0123456789abcdef0123456789abcdef".utf8)
        let shown = [
            "\(try HMACKey(secret: secret))", String(reflecting: try HMACKey(secret: secret)),
            "\(try ServerKey(secret: secret))", String(reflecting: try ServerKey(secret: secret)),
            "\(try PrivateKey(pem: Fixtures.ecPKCS8))",
        ]
        var dumped = ""
        dump(try ServerKey(secret: secret), to: &dumped)
        for text in shown + [dumped] { #expect(!text.contains("48") && !text.contains("0123")) }
    }

    @Test("a key set keeps keys for signatures and leaves out the rest")
    func keySets() throws {
        let set = try KeySet(json: Array(Fixtures.keySet.utf8))
        #expect(set.key(id: "ec-1")?.algorithm == .es256)
        #expect(set.key(id: "rsa-1")?.algorithm == .rs256)
        #expect(set.key(id: "secret") == nil)
        #expect(set.key(id: nil) == nil, "a token without a key id must not pick among several")
    }

    @Test(
        "a key set without a usable key is refused",
        arguments: [
            "", "[]", "{}", #"{"keys":[]}"#, #"{"keys":[{"kty":"oct","k":"AAAA"}]}"#,
            #"{"keys":[{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}]}"#,
            #"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#,
            Fixtures.keySet.replacing(#""use":"sig""#, with: #""use":"enc""#),
            Fixtures.keySet.replacing("ES256", with: "ES384").replacing("RS256", with: "RS512"),
        ]
    )
    func badKeySets(text: String) {
        #expect(throws: KeyError.self) { try KeySet(json: Array(text.utf8)) }
    }

    @Test("a point that is not on the curve makes no key")
    func offCurve() {
        #expect(throws: KeyError.self) {
            try PublicKey(x: [UInt8](repeating: 1, count: 32), y: [UInt8](repeating: 1, count: 32))
        }
    }

    @Test("a secret that can be guessed is refused")
    func shortSecret() {
        #expect(throws: KeyError.self) { try HMACKey(secret: Array("secret".utf8)) }
    }
}

private func base64(_ text: String) -> String {
    let plain = Base64URL.encoded(Array(text.utf8)).replacing("-", with: "+").replacing("_", with: "/")
    return plain + String(repeating: "=", count: (4 - plain.count % 4) % 4)
}
