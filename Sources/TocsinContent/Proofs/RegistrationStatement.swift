public import JSON

/// How a registration is signed.
public enum ProofScheme: String, Sendable, Hashable, CaseIterable {
    /// A wallet's personal signature of the text (EIP-191).
    case eip191 = "EIP191"
    /// A wallet's signature of typed data (EIP-712).
    case eip712 = "EIP712"
    /// An Ed25519 key's signature of the text (RFC 8032).
    case ed25519 = "ED25519"
    /// A P-256 key's signature of the text, as the Secure Enclave makes it.
    case p256 = "P256"

    /// Whether a wallet signs, which is known by its address; otherwise a key by itself.
    public var isWallet: Bool { self == .eip191 || self == .eip712 }
}

/// What the owner of a device signs: that this server may push to this token for this user.
///
/// Server and client make the signed bytes by this one type, so they cannot differ.
public struct RegistrationStatement: Sendable, Hashable {
    /// How it is signed.
    public let scheme: ProofScheme
    /// What the server gave out for it.
    public let challenge: RegistrationChallenge
    /// `ios`, `android` or `web`.
    public let platform: String
    /// SHA-256 of the push token as it is registered, 32 bytes.
    public let tokenDigest: [UInt8]
    /// Who signs: a wallet's address with its checksum, or a public key in base64url.
    public let address: String
    /// The wallet that signs; nil where a key does by itself.
    package let wallet: WalletAddress?

    /// The statement about one push token; nil when `address` is no wallet's address and the scheme
    /// needs one.
    public init?(
        _ challenge: RegistrationChallenge,
        platform: String,
        token: String,
        address: String,
        scheme: ProofScheme = .eip191
    ) {
        self.scheme = scheme
        self.challenge = challenge
        self.platform = platform
        tokenDigest = SHA256.digest(Array(token.utf8))
        if scheme.isWallet {
            guard let wallet = WalletAddress(address) else { return nil }
            (self.wallet, self.address) = (wallet, wallet.description)
        } else {
            (wallet, self.address) = (nil, address)
        }
    }

    /// The text that is signed, or shown to whom signs.
    public var text: String {
        [
            "Tocsin: register device",
            "server: \(challenge.server)",
            "user: \(challenge.userID)",
            "platform: \(platform)",
            "token-sha256: \(Hexadecimal.text(tokenDigest))",
            scheme.isWallet ? "address: \(address)" : "key: \(address)",
            "nonce: \(challenge.nonce)",
            "issued: \(UTCSeconds(sinceEpoch: challenge.issued))",
            "expires: \(UTCSeconds(sinceEpoch: challenge.expires))",
        ].joined(separator: "\n")
    }

    /// The 32 bytes that a key signs where the scheme hashes first; nil for `ED25519`, which signs
    /// the text itself.
    public var signedDigest: [UInt8]? {
        switch scheme {
        case .eip191:
            let message = Array(text.utf8)
            var signed: [UInt8] = [0x19]
            signed += "Ethereum Signed Message:\n\(message.count)".utf8
            return Keccak256.digest(signed + message)
        case .eip712:
            var signed: [UInt8] = [0x19, 0x01]
            signed += Self.domainDigest
            return Keccak256.digest(signed + structDigest)
        case .p256: return SHA256.digest(Array(text.utf8))
        case .ed25519: return nil
        }
    }

    /// The typed data as a wallet takes it (`eth_signTypedData_v4`).
    public var typedData: JSONValue {
        let fields = Self.fields.map { JSONValue.object(["name": .string($0.name), "type": .string($0.type)]) }
        let domain: JSONValue = [["name": "name", "type": "string"], ["name": "version", "type": "string"]]
        return [
            "types": ["EIP712Domain": domain, "RegisterDevice": .array(fields)],
            "primaryType": "RegisterDevice",
            "domain": ["name": "Tocsin", "version": "1"],
            "message": [
                "server": .string(challenge.server), "user": .string(challenge.userID), "platform": .string(platform),
                "tokenHash": .string("0x" + Hexadecimal.text(tokenDigest)), "wallet": .string(address),
                "nonce": .string(challenge.nonce), "issued": .int(challenge.issued), "expires": .int(challenge.expires),
            ],
        ]
    }

    private static let fields: [(type: String, name: String)] = [
        ("string", "server"), ("string", "user"), ("string", "platform"), ("bytes32", "tokenHash"),
        ("address", "wallet"), ("string", "nonce"), ("uint64", "issued"), ("uint64", "expires"),
    ]

    /// hashStruct of the domain (EIP-712, "Definition of domainSeparator").
    private static let domainDigest = Keccak256.digest(
        ["EIP712Domain(string name,string version)", "Tocsin", "1"].flatMap(hash)
    )

    private static let typeDigest = hash(
        "RegisterDevice(" + fields.map { "\($0.type) \($0.name)" }.joined(separator: ",") + ")"
    )

    private var structDigest: [UInt8] {
        var words = Self.typeDigest
        for text in [challenge.server, challenge.userID, platform] { words += Self.hash(text) }
        words += tokenDigest
        let wallet = wallet?.bytes ?? []
        words += [UInt8](repeating: 0, count: 32 - wallet.count) + wallet
        words += Self.hash(challenge.nonce)
        for number in [challenge.issued, challenge.expires] { words += Self.word(number) }
        return Keccak256.digest(words)
    }

    private static func hash(_ text: String) -> [UInt8] { Keccak256.digest(Array(text.utf8)) }

    /// A number in 32 bytes, the high ones first.
    private static func word(_ number: Int64) -> [UInt8] {
        let low = (0..<8).map { UInt8(truncatingIfNeeded: number >> Int64(56 - 8 * $0)) }
        return [UInt8](repeating: 0, count: 24) + low
    }
}
