import Encodings
import Foundation
import JSON
import Testing
import TocsinAuth
import TocsinContent
import TocsinCore

/// A registration and what was signed of it.
struct SignedRegistration {
    var claim: RegistrationClaim
    var proof: RegistrationProofInput

    /// That of the documentation, with the private key of 32 times 0x46.
    static let claim = RegistrationClaim(
        server: "push.example.com",
        userID: UserID("01a2083d-1db6-72d0-9836-ed216da03b7d"),
        platform: .ios,
        token: String(repeating: "ab", count: 32),
        nonce: "Zk3p0Q4cF1mVw8sT",
        issued: 1_795_434_595,
        expires: 1_795_434_895
    )

    static let address = "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F"

    /// The documented registration, signed by a key.
    static func signed(by signer: some ProofSigner) async throws -> SignedRegistration {
        let challenge = RegistrationChallenge(
            nonce: claim.nonce,
            server: claim.server,
            userID: claim.userID.text,
            issued: claim.issued,
            expires: claim.expires
        )
        let proof = try await challenge.proof(platform: "ios", token: claim.token, signedBy: signer)
        return SignedRegistration(
            claim: claim,
            proof: RegistrationProofInput(
                scheme: proof.scheme.rawValue,
                address: proof.address,
                signature: proof.signature,
                nonce: proof.nonce
            )
        )
    }

    /// Who is found to have signed.
    var signer: String? { ProofVerifier().signer(of: proof, for: claim) }
}

@Suite("Proofs of registrations")
struct ProofVerifierTests {
    private static func key(_ number: UInt8, _ scheme: ProofScheme = .eip191) throws -> WalletKey {
        try WalletKey(scalar: [UInt8](repeating: number, count: 32), scheme: scheme)
    }

    @Test(
        "signatures that another library made for the documented text are taken",
        arguments: [
            (
                "EIP191",
                "0x2c7158b8347e56d48fb13692ed522f6e02c9ee64bec6169821f6e98f8d71020a1c45b1f06c289d7d4204559e3e49f357ce6a"
                    + "14b8d795b068fe6a5970e6a8adc71b"
            ),
            (
                "EIP712",
                "0xa94c9e46a5f75df695d3420fd9da06103009de6aff764aead3aaefebbdc535494592a15cc3f845daf180b2276e2cf162588a"
                    + "922fe6309bc8c91cbfdc38246f781c"
            ),
        ]
    )
    func vectors(scheme: String, signature: String) {
        var signed = SignedRegistration(
            claim: SignedRegistration.claim,
            proof: RegistrationProofInput(
                scheme: scheme,
                address: SignedRegistration.address,
                signature: signature,
                nonce: SignedRegistration.claim.nonce
            )
        )
        #expect(signed.signer == SignedRegistration.address)
        // 0 and 1 mean the same as 27 and 28, and an address may come in one case.
        signed.proof.signature = signature.dropLast(2) + (signature.hasSuffix("1b") ? "00" : "01")
        signed.proof.address = "0x" + signed.proof.address.dropFirst(2).lowercased()
        #expect(signed.signer == SignedRegistration.address)
    }

    @Test("a key of 32 times 0x46 has the documented address, and shows nothing else of itself")
    func address() throws {
        let key = try Self.key(0x46)
        #expect(key.address == SignedRegistration.address)
        #expect("\(key)" == "WalletKey(\(SignedRegistration.address))" && Mirror(reflecting: key).children.isEmpty)
    }

    @Test("what our own keys sign is taken, under both schemes", arguments: [ProofScheme.eip191, .eip712])
    func ownKeys(scheme: ProofScheme) async throws {
        for number in 1...100 {
            let key = try Self.key(UInt8(number), scheme)
            #expect(try await SignedRegistration.signed(by: key).signer == key.address, "key \(number)")
        }
    }

    @Test("no number outside of the curve's order is a wallet's key, and no file that others may read holds one")
    func keys() throws {
        let order = try #require(
            Hexadecimal.bytes("0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", count: 32)
        )
        for scalar in [[UInt8](repeating: 0, count: 32), order, [UInt8](repeating: 0xFF, count: 32), [1]] {
            #expect(throws: KeyError.self) { try WalletKey(scalar: scalar) }
        }
        let path = NSTemporaryDirectory() + "tocsin-wallet-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("0x\(String(repeating: "46", count: 32))\n".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect { try WalletKey.load(from: path) } throws: { "\($0)".contains("chmod 600") }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(try WalletKey.load(from: path).address == SignedRegistration.address)
    }

    @Test("addresses and keys have one form, and other texts none")
    func canonical() {
        let verifier = ProofVerifier()
        let ed25519 = Base64URL.encoded([UInt8](repeating: 9, count: 32))
        #expect(verifier.canonicalAddress("0x9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f") == SignedRegistration.address)
        #expect(verifier.canonicalAddress(ed25519) == ed25519)
        for wrong in ["", "0x12", "0x9D8a62f656a8d1615c1294fd71e9cfb3e4855a4f", ed25519 + "=", "vitalik.eth"] {
            #expect(verifier.canonicalAddress(wrong) == nil, "\(wrong)")
        }
    }
}

/// `Tests/Oracle/proofs.py` signs with another library, and hashes by its own hand.
@Suite("Proofs by another library")
struct ProofOracleTests {
    private static func file() -> URL {
        if let path = ProcessInfo.processInfo.environment["TOCSIN_PROOF_ORACLE"] { return URL(fileURLWithPath: path) }
        return URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Oracle/proofs.jsonl")
    }

    @Test("every proof it makes is taken, under all four schemes, and a wallet's with one last byte only")
    func taken() throws {
        let lines = try String(contentsOf: Self.file(), encoding: .utf8).split(separator: "\n")
        #expect(lines.count >= 64)
        for line in lines {
            let row = try JSONParser.parse(String(line))
            let (scheme, address) = (try text(row, "scheme"), try text(row, "address"))
            let ends = scheme.hasPrefix("EIP") ? ["1b", "1c"] : [""]
            let signers = try ends.compactMap { try signed(row, end: $0).signer }
            #expect(signers == [address], "\(line)")
        }
    }

    private func signed(_ row: JSONValue, end: String) throws -> SignedRegistration {
        SignedRegistration(
            claim: RegistrationClaim(
                server: try text(row, "server"),
                userID: UserID(try text(row, "user")),
                platform: try #require(PushPlatform(rawValue: try text(row, "platform"))),
                token: try text(row, "token"),
                nonce: try text(row, "nonce"),
                issued: try #require(row["issued"]?.intValue),
                expires: try #require(row["expires"]?.intValue)
            ),
            proof: RegistrationProofInput(
                scheme: try text(row, "scheme"),
                address: try text(row, "address"),
                signature: try text(row, "signature") + end,
                nonce: try text(row, "nonce")
            )
        )
    }

    private func text(_ row: JSONValue, _ name: String) throws -> String { try #require(row[name]?.stringValue) }
}
