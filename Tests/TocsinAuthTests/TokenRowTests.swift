import Encodings
import JSON
import Testing
import TocsinAuth
import TocsinCore
import TocsinStore

@Suite("Tokens whose rows say what they may do")
struct TokenRowTests {
    private static let alice = Account(
        id: UserID("0190-alice"),
        name: "alice",
        passwordHash: nil,
        isDisabled: false,
        createdAt: Timestamp(milliseconds: 0)
    )

    private static func row(_ world: World, _ words: [String], at networks: [String] = []) throws -> IssuedToken {
        var row = IssuedToken(
            id: TokenID("token-1"),
            userID: alice.id,
            scope: try #require(Identity.Scope(words: words)),
            createdAt: world.time.now(),
            expiresAt: world.time.now().adding(seconds: 3600)
        )
        row.networks = networks.compactMap { AddressNetwork($0) }
        return row
    }

    private static func issue(_ world: World, _ row: IssuedToken) async throws -> String {
        try await world.save(accounts: [alice], tokens: [row])
        return try world.local.text(of: row, for: alice)
    }

    private static func claim(_ text: String) throws -> JSONValue? {
        let part = try #require(text.split(separator: ".").dropFirst().first)
        return try JSONParser.parse(try #require(Base64URL.decoded(String(part))))["scope"]
    }

    /// The rule by which the release before reads the claim: nil refuses the token.
    private static func oldReading(_ claim: JSONValue?) -> String? {
        switch claim {
        case nil: "full"
        case .string("read-only")?: "read-only"
        case .string("push")?: "push"
        case .string(let text)? where text.hasPrefix("publish:") && text != "publish:": text
        default: nil
        }
    }

    @Test(
        "the release before refuses a token that it has no word for, and reads the others as they are",
        arguments: [
            (["full"], [], "full"), (["read"], [], "read-only"), (["push"], [], "push"),
            (["publish:t"], [], "publish:t"), (["publish:t", "publish:u"], [], nil), (["read:t"], [], nil),
            (["device"], [], nil), (["topics"], [], nil), (["full", "push"], [], nil),
            (["read", "publish:t"], [], nil),
            (["full"], ["10.0.0.0/8"], nil), (["publish:t"], ["::1"], nil),
        ] as [([String], [String], String?)]
    )
    func oldRelease(words: [String], networks: [String], reading: String?) async throws {
        let world = try await World(nil)
        let row = try Self.row(world, words, at: networks)
        let text = try await Self.issue(world, row)
        #expect(Self.oldReading(try Self.claim(text)) == reading)
        let result = await world.authenticator.authenticate(token: text, from: networks.isEmpty ? nil : "10.1.1.1")
        guard networks != ["::1"] else { return }
        guard case .identity(let identity) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(identity.scope == row.scope && identity.networks == row.networks)
    }

    @Test("a token whose row was narrowed has the row's scope; one whose row has more than its text says is refused")
    func narrowed() async throws {
        let world = try await World(nil)
        let full = try Self.row(world, ["full"])
        let text = try await Self.issue(world, full)
        _ = await world.result(text)
        for words in [["read"], ["publish:t", "device"]] {
            try await world.save(tokens: [try Self.row(world, words)])
            world.authenticator.observe(.accessEnded(Self.alice.id, full.id))
            guard case .identity(let identity) = await world.result(text) else {
                Issue.record("refused")
                return
            }
            #expect(identity.scope == Identity.Scope(words: words))
        }
        let narrow = try await Self.issue(world, try Self.row(world, ["publish:t"]))
        for words in [["full"], ["publish:t", "publish:u"], ["push"]] {
            try await world.save(tokens: [try Self.row(world, words)])
            world.authenticator.observe(.accessEnded(Self.alice.id, full.id))
            #expect(await world.result(narrow) == .refused(.notAuthorized), "\(words)")
        }
    }

    @Test("a token outside its networks is refused as a revoked one, remembered or not, and its use is not noted")
    func networks() async throws {
        let world = try await World(nil)
        let text = try await Self.issue(world, try Self.row(world, ["full"], at: ["10.0.0.0/8", "fd00::/8"]))
        let outside = ["192.0.2.1", "::ffff:11.0.0.1", "2001:db8::1", nil]
        for address in outside {
            #expect(await world.authenticator.authenticate(token: text, from: address) == .refused(.revoked))
        }
        for address in ["10.1.2.3", "::ffff:10.1.2.3", "fd00::7"] {
            guard case .identity = await world.authenticator.authenticate(token: text, from: address) else {
                Issue.record("\(address) is refused")
                return
            }
        }
        let fingerprint = world.authenticator.fingerprint(of: text)
        #expect(world.authenticator.identity(rememberedBy: fingerprint, from: "10.9.9.9") != nil)
        for address in outside {
            #expect(world.authenticator.identity(rememberedBy: fingerprint, from: address) == nil)
        }
    }

    @Test("an API key keeps to its networks too, and the release before does not find one that has some")
    func keyNetworks() async throws {
        let world = try await World(nil)
        let text = APIKeyText.make()
        var key = APIKey(
            id: TokenID("k"),
            name: "website",
            digest: APIKeyText.digest(of: text),
            createdAt: world.time.now(),
            expiresAt: world.time.now().adding(seconds: 60)
        )
        key.networks = ["10.0.0.0/8"].compactMap { AddressNetwork($0) }
        try await world.save(keys: [key])
        guard case .identity = await world.authenticator.authenticate(token: text, from: "10.0.0.1") else {
            Issue.record("refused inside")
            return
        }
        #expect(await world.authenticator.authenticate(token: text, from: "192.0.2.1") == .refused(.revoked))
        let keys = try await world.store.read { reader throws(StoreError) in try reader.apiKeys() }
        #expect(keys == [key])
    }

    @Test("the last use is written behind requests: its minute and its network, never the address")
    func lastUse() async throws {
        let world = try await World(nil)
        let uses = TokenUses()
        let authenticator = TokenAuthenticator(
            local: world.local,
            external: nil,
            store: world.store,
            time: world.time,
            uses: uses
        )
        let row = try Self.row(world, ["read"])
        let text = try await Self.issue(world, row)
        func used() async throws -> IssuedToken? {
            try await world.store.read { reader throws(StoreError) in try reader.token(row.id) }
        }
        for (address, network) in [("192.0.2.77", "192.0.2.0/24"), ("2001:db8:1:2::3", "2001:db8:1::/48")] {
            let before = try await used()
            _ = await authenticator.authenticate(token: text, from: address)
            #expect(try await used() == before, "a request writes nothing")
            try await uses.write(to: world.store)
            let after = try await used()
            let minute = world.time.now().milliseconds / 60_000 * 60_000
            #expect(after?.lastUsedAt == Timestamp(milliseconds: minute))
            #expect(after?.lastUsedFrom == network)
            world.time.advance(seconds: 90)
        }
        try await uses.write(to: world.store)
        #expect(try await used()?.lastUsedFrom == "2001:db8:1::/48", "nothing new, nothing written")
    }

    @Test("more uses than one write takes are written in several")
    func manyUses() async throws {
        let world = try await World(nil)
        try await world.save(accounts: [Self.alice])
        let rows = try (0..<1200).map { number in
            var row = try Self.row(world, ["read"])
            row.id = TokenID("t\(number)")
            return row
        }
        try await world.save(tokens: rows)
        let uses = TokenUses()
        for row in rows {
            uses.note(Identity(userID: row.userID, username: "alice", tokenID: row.id), from: nil, at: world.time.now())
        }
        try await uses.write(to: world.store)
        let stored = try await world.store.read { reader throws(StoreError) in try reader.tokens(of: Self.alice.id) }
        #expect(stored.count == 1200 && stored.allSatisfy { $0.lastUsedAt != nil && $0.lastUsedFrom == nil })
    }

    @Test("200 forgeries of a token that only publishes let nobody in")
    func forgeries() async throws {
        let world = try await World(nil)
        let text = try await Self.issue(world, try Self.row(world, ["publish:t"]))
        let parts = text.split(separator: ".").map(String.init)
        let header = try JSONParser.parse(try #require(Base64URL.decoded(parts[0]))).objectValue ?? [:]
        let claims = try JSONParser.parse(try #require(Base64URL.decoded(parts[1]))).objectValue ?? [:]
        func joined(_ header: JSONObject, _ claims: JSONObject, _ signature: String) -> String {
            let texts = [header, claims].map { Base64URL.encoded(JSONValue.object($0).serialized()) }
            return texts.joined(separator: ".") + "." + signature
        }
        let changes: [(String, JSONValue?)] = [
            ("scope", nil), ("scope", "row"), ("scope", "full"), ("scope", ""), ("scope", "publish:u"),
            ("scope", "read-only"), ("scope", "push"), ("scope", .null), ("scope", ["row"]), ("jti", "token-2"),
            ("sub", "0190-bob"), ("username", "bob"), ("exp", 9_999_999_999), ("iss", "other"), ("iat", 0),
        ]
        let heads: [(String, JSONValue?)] = [
            ("alg", "none"), ("alg", "HS512"), ("alg", "RS256"), ("alg", nil), ("kid", nil), ("kid", "x"),
            ("typ", "JWS"),
        ]
        let keys = ["", "x", "tocsin", String(repeating: "0", count: 32)].map { Array($0.utf8) }
        var forged: [String] = []
        for (name, value) in changes {
            var other = claims
            other[name] = value
            forged += [joined(header, other, parts[2]), joined(header, other, "")]
            for (part, word) in heads {
                var head = header
                head[part] = word
                forged.append(joined(head, other, part == "alg" ? "" : parts[2]))
            }
            for key in keys where key.count >= 32 {
                let head: JSONObject = ["alg": "HS256", "kid": header["kid"] ?? .null, "typ": "JWT"]
                forged.append(
                    try Forge.token(
                        header: JSONValue.object(head).serialized(),
                        claims: JSONValue.object(other).serialized(),
                        key: HMACKey(secret: key)
                    )
                )
            }
        }
        for index in 0..<parts[2].count - 1 {
            var signature = Array(parts[2])
            signature[index] = signature[index] == "A" ? "B" : "A"
            forged.append(parts[0] + "." + parts[1] + "." + String(signature))
        }
        forged += (1...16).map { String(text.dropLast($0)) }
        forged += [parts[0] + "." + parts[1], parts[0] + "." + parts[1] + ".", text + ".x", "." + text, text + "="]
        #expect(forged.count >= 200)
        for token in forged where token != text {
            guard case .refused = await world.result(token) else {
                Issue.record("let in: \(token)")
                return
            }
        }
        guard case .identity = await world.result(text) else {
            Issue.record("the true one is refused")
            return
        }
    }
}
