import Encodings
import Testing
import TocsinAuth
import TocsinContent
import TocsinCore

/// Each forgery is a good proof with one thing changed: ten thousand in all.
@Suite("Forged proofs of registrations")
struct ProofForgeryTests {
    private typealias Forgery = (name: String, make: @Sendable (inout SignedRegistration, UInt8) -> Void)

    private static let ofRegistration: [Forgery] = [
        ("server", { $0.claim.server = "push\($1).example.com" }),
        ("user", { $0.claim.userID = UserID("user \($1)") }),
        ("platform", { $0.claim.platform = $1.isMultiple(of: 2) ? .android : .web }),
        ("token", { $0.claim.token += "\($1)" }),
        ("token's case", { forged, _ in forged.claim.token = forged.claim.token.uppercased() }),
        ("nonce", { $0.claim.nonce = "n\($1)" }),
        ("issued", { $0.claim.issued += Int64($1) + 1 }),
        ("expires", { $0.claim.expires += Int64($1) + 1 }),
        ("line break", { $0.claim.server += "\nuser: \($1)" }),
        ("another's address", { $0.proof.address = "0x" + Hexadecimal.text([UInt8](repeating: $1, count: 20)) }),
        ("no address", { forged, _ in forged.proof.address = "" }),
        ("address as key", { $0.proof.address = Base64URL.encoded([UInt8](repeating: $1, count: 32)) }),
        ("other scheme", { forged, _ in forged.proof.scheme = forged.proof.scheme == "EIP191" ? "EIP712" : "EIP191" }),
        ("key's scheme", { forged, number in forged.proof.scheme = number.isMultiple(of: 2) ? "P256" : "ED25519" }),
        ("unknown scheme", { $0.proof.scheme = "EIP\($1)" }),
    ]

    private static let ofSignature: [Forgery] = [
        ("bit of r", { flip(&$0, Int($1) % 32, $1) }),
        ("bit of s", { flip(&$0, 32 + Int($1) % 32, $1) }),
        ("other v", { forged, _ in change(&forged) { $0[64] = $0[64] == 27 ? 28 : 27 } }),
        ("no v", { forged, number in change(&forged) { $0[64] = 2 + number % 25 } }),
        ("high s", { forged, _ in change(&forged) { $0.replaceSubrange(32..<64, with: minus(order, $0[32..<64])) } }),
        (
            "high s and its v",
            { forged, _ in
                change(&forged) {
                    $0.replaceSubrange(32..<64, with: minus(order, $0[32..<64]))
                    $0[64] = $0[64] == 27 ? 28 : 27
                }
            }
        ),
        ("r = 0", { forged, _ in change(&forged) { $0.replaceSubrange(0..<32, with: zeros) } }),
        ("s = 0", { forged, _ in change(&forged) { $0.replaceSubrange(32..<64, with: zeros) } }),
        ("r = n", { forged, _ in change(&forged) { $0.replaceSubrange(0..<32, with: order) } }),
        ("s = n", { forged, _ in change(&forged) { $0.replaceSubrange(32..<64, with: order) } }),
        ("r beyond n", { forged, number in change(&forged) { $0.replaceSubrange(0..<32, with: beyond(number)) } }),
        (
            "r and s exchanged",
            { forged, _ in change(&forged) { $0 = Array($0[32..<64]) + Array($0[0..<32]) + [$0[64]] } }
        ),
        ("a byte less", { forged, _ in forged.proof.signature.removeLast(2) }),
        ("a byte more", { forged, _ in forged.proof.signature += "00" }),
        ("half a byte less", { forged, _ in forged.proof.signature.removeLast() }),
        ("without 0x", { forged, _ in forged.proof.signature.removeFirst(2) }),
        (
            "a letter that is no digit",
            { forged, _ in forged.proof.signature = "0xg" + forged.proof.signature.dropFirst(3) }
        ),
        ("nothing", { forged, _ in forged.proof.signature = "" }),
        ("very long", { $0.proof.signature += String(repeating: "0", count: 1000 * (Int($1) + 1)) }),
    ]

    private static let zeros = [UInt8](repeating: 0, count: 32)
    private static let order =
        Hexadecimal.bytes("0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", count: 32) ?? []

    private static func beyond(_ number: UInt8) -> [UInt8] { Array(order.dropLast()) + [0x41 &+ (number % 100)] }

    private static func change(_ forged: inout SignedRegistration, _ body: (inout [UInt8]) -> Void) {
        var bytes = Hexadecimal.bytes(forged.proof.signature, count: 65) ?? []
        body(&bytes)
        forged.proof.signature = "0x" + Hexadecimal.text(bytes)
    }

    private static func flip(_ forged: inout SignedRegistration, _ place: Int, _ number: UInt8) {
        change(&forged) { $0[place] ^= 1 << (number % 8) }
    }

    private static func minus(_ left: [UInt8], _ right: ArraySlice<UInt8>) -> [UInt8] {
        var (result, borrow) = (left, 0)
        for (place, byte) in zip((0..<left.count).reversed(), right.reversed()) {
            let difference = Int(left[place]) - Int(byte) - borrow
            (result[place], borrow) = (UInt8(truncatingIfNeeded: difference), difference < 0 ? 1 : 0)
        }
        return result
    }

    @Test("ten thousand are refused, whatever was changed, and each proof before it was is taken")
    func tenThousand() async throws {
        var count = 0
        for number in UInt8(1)...150 {
            let scheme: ProofScheme = number.isMultiple(of: 2) ? .eip191 : .eip712
            let key = try WalletKey(scalar: [UInt8](repeating: number, count: 32), scheme: scheme)
            let good = try await SignedRegistration.signed(by: key)
            #expect(good.signer == key.address)
            for forgery in Self.ofRegistration + Self.ofSignature {
                for variant in [number, number ^ 0x55] {
                    var forged = good
                    forgery.make(&forged, variant)
                    count += 1
                    if forged.signer != nil { Issue.record("\(forgery.name) was not noticed: \(forged)") }
                }
            }
        }
        #expect(count >= 10_000)
    }

    @Test("a good signature of another curve, made for the very text, is none of a wallet's")
    func otherCurve() async throws {
        let key = try PrivateKey(pem: Fixtures.ecPKCS8)
        let statement = try #require(
            RegistrationStatement(
                RegistrationChallenge(
                    nonce: SignedRegistration.claim.nonce,
                    server: SignedRegistration.claim.server,
                    userID: SignedRegistration.claim.userID.text,
                    issued: SignedRegistration.claim.issued,
                    expires: SignedRegistration.claim.expires
                ),
                platform: "ios",
                token: SignedRegistration.claim.token,
                address: SignedRegistration.address
            )
        )
        for _ in 0..<50 {
            let raw = try key.signature(for: Array(statement.text.utf8))
            for end: UInt8 in [27, 28] {
                let proof = RegistrationProofInput(
                    scheme: "EIP191",
                    address: SignedRegistration.address,
                    signature: "0x" + Hexadecimal.text(raw + [end]),
                    nonce: SignedRegistration.claim.nonce
                )
                #expect(SignedRegistration(claim: SignedRegistration.claim, proof: proof).signer == nil)
            }
        }
    }

    /// The points of small order, for which a signature of zeros holds for many texts.
    @Test(
        "a key that signs for everybody is no key",
        arguments: [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000080",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        ]
    )
    func smallOrder(digits: String) throws {
        let point = try #require(Hexadecimal.bytes("0x" + digits, count: 32))
        // R is the neutral point and s is 0: that holds wherever the hash meets the small order.
        let signature = Base64URL.encoded([1] + [UInt8](repeating: 0, count: 63))
        for number in 0..<64 {
            var claim = SignedRegistration.claim
            claim.nonce = "n\(number)"
            let proof = RegistrationProofInput(
                scheme: "ED25519",
                address: Base64URL.encoded(point),
                signature: signature,
                nonce: claim.nonce
            )
            #expect(SignedRegistration(claim: claim, proof: proof).signer == nil)
        }
    }
}
