import JSON
import Testing
import TocsinContent

@Suite("What a device's owner signs")
struct RegistrationStatementTests {
    private static let challenge = RegistrationChallenge(
        nonce: "Zk3p0Q4cF1mVw8sT",
        server: "push.example.com",
        userID: "01a2083d-1db6-72d0-9836-ed216da03b7d",
        issued: 1_795_434_595,
        expires: 1_795_434_895
    )
    private static let token = String(repeating: "ab", count: 32)
    private static let wallet = "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F"
    private static let text = """
        Tocsin: register device
        server: push.example.com
        user: 01a2083d-1db6-72d0-9836-ed216da03b7d
        platform: ios
        token-sha256: 271a413bd339c5709fdceaec41f14f11e9fbfb5042d72d331c65f32b284cd09a
        address: 0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F
        nonce: Zk3p0Q4cF1mVw8sT
        issued: 2026-11-23T11:49:55Z
        expires: 2026-11-23T11:54:55Z
        """

    @Test("the text is the documented one, whichever case the wallet gives its address in")
    func text() {
        for address in [Self.wallet, "0x" + Self.wallet.dropFirst(2).lowercased()] {
            let text = RegistrationProof.text(Self.challenge, platform: "ios", token: Self.token, address: address)
            #expect(text == Self.text && text?.utf8.count == 319)
        }
        #expect(RegistrationProof.text(Self.challenge, platform: "ios", token: Self.token, address: "0x12") == nil)
    }

    @Test(
        "the bytes that a wallet signs are those of other libraries",
        arguments: [
            (ProofScheme.eip191, "0x0c61cddfe6dd920840f931381e1dac4bddd7344eb3bf12800027107227a61d0c"),
            (.eip712, "0x5ad65267c9c2266dab2a22b4551741c16cdd76797e9840f1b62276e1ec83f5bf"),
        ]
    )
    func digests(scheme: ProofScheme, digest: String) {
        let statement = RegistrationStatement(
            Self.challenge,
            platform: "ios",
            token: Self.token,
            address: Self.wallet,
            scheme: scheme
        )
        #expect(statement?.signedDigest == Hexadecimal.bytes(digest, count: 32))
    }

    @Test("a key by itself stands in the line key, in the text that it signs")
    func keys() {
        let text = RegistrationProof.text(
            Self.challenge,
            platform: "android",
            token: "t",
            address: "AbC_-",
            scheme: .ed25519
        )
        #expect(text?.split(separator: "\n")[5] == "key: AbC_-")
    }

    @Test("typed data names every field that is hashed, in the same order")
    func typedData() {
        let statement = RegistrationStatement(
            Self.challenge,
            platform: "ios",
            token: Self.token,
            address: Self.wallet,
            scheme: .eip712
        )
        let data = statement?.typedData
        let fields = data?["types"]?["RegisterDevice"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
        #expect(fields == ["server", "user", "platform", "tokenHash", "wallet", "nonce", "issued", "expires"])
        #expect(Set(fields) == Set(data?["message"]?.objectValue?.map(\.key) ?? []))
        #expect(data?["message"]?["issued"] == 1_795_434_595)
    }

    @Test("a challenge is read as the server answers it, and nothing else is")
    func challenge() {
        var answer: JSONObject = [
            "nonce": "Zk3p0Q4cF1mVw8sT", "server": "push.example.com",
            "userId": "01a2083d-1db6-72d0-9836-ed216da03b7d", "issuedAt": "2026-11-23T11:49:55Z",
            "expiresAt": "2026-11-23T11:54:55Z",
        ]
        #expect(RegistrationChallenge(json: .object(answer)) == Self.challenge)
        for wrong in ["2026-11-23T11:49:55.000Z", "2026-02-30T11:49:55Z", "2026-11-23T24:00:00Z", "", "now"] {
            answer["issuedAt"] = .string(wrong)
            #expect(RegistrationChallenge(json: .object(answer)) == nil, "\(wrong)")
        }
    }

    @Test("what a signer signs becomes the server's input, with the address in its one form")
    func proof() async throws {
        let signer = FixedSigner(address: "0x" + Self.wallet.dropFirst(2).lowercased())
        let proof = try await Self.challenge.proof(platform: "ios", token: Self.token, signedBy: signer)
        let expected: JSONValue = [
            "scheme": "EIP191", "address": .string(Self.wallet), "signature": "signed 319 bytes",
            "nonce": "Zk3p0Q4cF1mVw8sT",
        ]
        #expect(proof.json == expected)
        await #expect(throws: ProofError.self) {
            try await Self.challenge.proof(platform: "ios", token: "t", signedBy: FixedSigner(address: "me"))
        }
    }

    private struct FixedSigner: ProofSigner {
        let scheme = ProofScheme.eip191
        let address: String

        func signature(of statement: RegistrationStatement) async throws -> String {
            "signed \(statement.text.utf8.count) bytes"
        }
    }
}

@Suite("Hashes by hand, and addresses")
struct ProofHashTests {
    @Test(
        "SHA-256 is that of FIPS 180-4's examples, at every length around a block",
        arguments: [
            (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
            (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
            (64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
            (1000, "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"),
        ]
    )
    func sha256(count: Int, digest: String) {
        #expect(Hexadecimal.text(SHA256.digest([UInt8](repeating: UInt8(ascii: "a"), count: count))) == digest)
    }

    @Test(
        "Keccak-256 is Ethereum's and not SHA-3's, at every length around a block",
        arguments: [
            (0, "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"),
            (135, "34367dc248bbd832f4e3e69dfaac2f92638bd0bbd18f2912ba4ef454919cf446"),
            (136, "a6c4d403279fe3e0af03729caada8374b5ca54d8065329a3ebcaeb4b60aa386e"),
            (137, "d869f639c7046b4929fc92a4d988a8b22c55fbadb802c0c66ebcd484f1915f39"),
            (1000, "b6a4ac1f51884d71f30fa397a5e155de3099e11fc0edef5d08b646e621e19de9"),
        ]
    )
    func keccak(count: Int, digest: String) {
        #expect(Hexadecimal.text(Keccak256.digest([UInt8](repeating: UInt8(ascii: "a"), count: count))) == digest)
    }

    /// The examples of EIP-55.
    @Test(
        "an address is taken in one case or with its checksum, and written with it",
        arguments: [
            "0x52908400098527886E0F7030069857D2E4169EE7", "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
            "0xde709f2102306220921060314715629080e2fb77", "0x27b1fdb04752bbc536007a920d24acb045561c26",
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
            "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB", "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
        ]
    )
    func checksum(text: String) throws {
        let digits = text.dropFirst(2)
        #expect(WalletAddress(text)?.description == text)
        #expect(WalletAddress("0x" + digits.lowercased())?.description == text)
        #expect(WalletAddress("0x" + digits.uppercased())?.description == text)
        let letter = try #require(digits.firstIndex { $0.isLetter })
        let mistyped =
            digits[..<letter] + String(digits[letter].isUppercase ? "g" : "G") + digits[letter...].dropFirst()
        #expect(WalletAddress("0x" + mistyped) == nil)
        for wrong in [String(digits), "0X" + digits, text + "0", String(text.dropLast()), " " + text] {
            #expect(WalletAddress(wrong) == nil, "\(wrong)")
        }
    }

    @Test("an address in mixed case with one letter of the other case is refused")
    func wrongChecksum() {
        #expect(WalletAddress("0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed") == nil)
    }
}
