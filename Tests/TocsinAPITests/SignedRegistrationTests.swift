import JSON
import Testing
import TocsinAPI
import TocsinAuth
import TocsinContent
import TocsinCore
import TocsinStore

@Suite("Signed registration")
struct SignedRegistrationTests {
    private static let alice = APIHarness.identity("alice")
    private static let bob = APIHarness.identity("bob")
    private static let phone = "aa11bb22"

    private static func wallet(_ number: UInt8 = 0x46) throws -> WalletKey {
        try WalletKey(scalar: [UInt8](repeating: number, count: 32))
    }

    private func challenge(
        _ api: APIHarness,
        as caller: Identity = SignedRegistrationTests.alice
    ) async throws -> RegistrationChallenge {
        let answer = try await api.run(
            "{ registrationChallenge { nonce server userId issuedAt expiresAt } }",
            as: caller
        )
        return try #require(
            answer["data"]?["registrationChallenge"].flatMap(RegistrationChallenge.init(json:)),
            "\(answer)"
        )
    }

    /// A challenge that a wallet has signed for a phone.
    private func proof(
        _ api: APIHarness,
        token: String = SignedRegistrationTests.phone,
        by wallet: WalletKey? = nil,
        as caller: Identity = SignedRegistrationTests.alice
    ) async throws -> RegistrationProof {
        let wallet = try wallet ?? Self.wallet()
        return try await challenge(api, as: caller).proof(platform: "ios", token: token, signedBy: wallet)
    }

    private func register(
        _ api: APIHarness,
        _ proof: RegistrationProof?,
        token: String = SignedRegistrationTests.phone,
        more: JSONObject = [:],
        as caller: Identity = SignedRegistrationTests.alice
    ) async throws -> JSONValue {
        var variables: JSONObject = [
            "token": .string(token), "platform": "ios", "proof": proof?.json ?? .null,
        ]
        for member in more { variables[member.key] = member.value }
        let answer = try await api.run(
            """
            mutation($token: String!, $platform: String!, $deviceId: ID, $bind: Boolean, $proof: RegistrationProofInput) {
              registerPushToken(
                token: $token, platform: $platform, deviceId: $deviceId, bindToSignIn: $bind, proof: $proof) {
                device { id address provenAt } } }
            """,
            variables,
            as: caller
        )
        return answer["data"]?["registerPushToken"]?["device"] ?? answer
    }

    private func code(_ answer: JSONValue) -> String? { answer["errors"]?[0]?["extensions"]?["code"]?.stringValue }

    private func addresses(
        _ api: APIHarness,
        _ address: String,
        as caller: Identity = SignedRegistrationTests.alice
    ) async throws -> Int? {
        let answer = try await api.run(
            "query($a: String) { devices(address: $a) { id } }",
            ["a": .string(address)],
            as: caller
        )
        return answer["data"]?["devices"]?.arrayValue?.count
    }

    @Test("a device that a wallet signed for has its address, and its owner alone finds it by that")
    func registers() async throws {
        let api = try await APIHarness(proofs: .accept)
        let wallet = try Self.wallet()
        let device = try await register(api, try await proof(api))
        #expect(device["address"] == .string(wallet.address) && device["provenAt"]?.stringValue != nil, "\(device)")
        let lower = "0x" + wallet.address.dropFirst(2).lowercased()
        #expect(try await addresses(api, wallet.address) == 1)
        #expect(try await addresses(api, lower) == 1)
        #expect(try await addresses(api, try Self.wallet(1).address) == 0)
        #expect(try await addresses(api, wallet.address, as: Self.bob) == 0)
        let typed = try WalletKey(scalar: [UInt8](repeating: 7, count: 32), scheme: .eip712)
        let other = try await register(api, try await proof(api, token: "cc33", by: typed), token: "cc33")
        #expect(other["address"] == .string(typed.address), "\(other)")
    }

    @Test("a challenge names the server, the caller and five minutes, in whole seconds")
    func challenges() async throws {
        let api = try await APIHarness(proofs: .require)
        let (first, second) = (try await challenge(api), try await challenge(api))
        #expect(first.server == "push.example.com" && first.userID == "sub-alice")
        #expect(first.expires - first.issued == 300 && first.nonce != second.nonce)
        let text = try await api.run("{ registrationChallenge { issuedAt } }")["data"]?["registrationChallenge"]
        #expect(text?["issuedAt"]?.stringValue?.utf8.count == 20, "\(text ?? .null)")
    }

    @Test("a challenge is good once: its registration may be repeated after a lost answer, and no other may use it")
    func once() async throws {
        let api = try await APIHarness(proofs: .accept)
        let challenge = try await challenge(api)
        let wallet = try Self.wallet()
        let first = try await challenge.proof(platform: "ios", token: Self.phone, signedBy: wallet)
        let second = try await challenge.proof(platform: "ios", token: "cc33", signedBy: wallet)
        let device = try await register(api, first)
        #expect(device["id"] != nil)
        #expect(try await register(api, first) == device)
        #expect(code(try await register(api, second, token: "cc33")) == "PROOF_REFUSED")
        #expect(try await addresses(api, wallet.address) == 1)
        // Once the device has gone on, or away, it is used.
        let id: JSONObject = ["deviceId": device["id"] ?? .null]
        #expect(try await register(api, nil, token: "dd44", more: id)["id"] == device["id"])
        #expect(code(try await register(api, first)) == "PROOF_REFUSED")
        #expect(api.refusals.all == Array(repeating: "sub-alice: the challenge was used before", count: 2))
    }

    @Test("a registration that is refused has not used its challenge, and has taken nobody's device")
    func refusedWhole() async throws {
        let api = try await APIHarness(proofs: .accept)
        let bobs = try await register(api, nil, as: Self.bob)
        let good = try await proof(api)
        // Nothing says when this sign-in ends.
        #expect(code(try await register(api, good, more: ["bind": true])) == "BAD_USER_INPUT")
        let left = try await api.run("{ devices { id } }", as: Self.bob)["data"]?["devices"]
        #expect(left == [["id": bobs["id"] ?? .null]], "\(left ?? .null)")
        #expect(try await register(api, good)["address"]?.stringValue != nil)
    }

    @Test("who had ten proofs refused within a minute waits until it is over; others do not")
    func tooMany() async throws {
        let api = try await APIHarness(proofs: .accept)
        let (good, wrong) = (try await proof(api), try await proof(api, token: "cc33"))
        for _ in 0..<10 { #expect(code(try await register(api, wrong)) == "PROOF_REFUSED") }
        let refused = try await register(api, good)
        #expect(code(refused) == "LIMIT", "\(refused)")
        #expect(refused["errors"]?[0]?["message"]?.stringValue?.contains("Wait a minute") == true, "\(refused)")
        let bobs = try await proof(api, token: "dd44", as: Self.bob)
        #expect(try await register(api, bobs, token: "dd44", as: Self.bob)["id"] != nil)
        api.time.advance(seconds: 61)
        #expect(try await register(api, good)["id"] != nil)
    }

    @Test("of registrations that use one challenge at the same time one is taken")
    func race() async throws {
        let api = try await APIHarness(proofs: .accept)
        let (challenge, wallet) = (try await challenge(api), try Self.wallet())
        let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 10..<30 {
                group.addTask {
                    let token = "aa\(number)"
                    let proof = try await challenge.proof(platform: "ios", token: token, signedBy: wallet)
                    return try await register(api, proof, token: token)["id"] != nil
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(taken == 1)
    }

    @Test("a challenge is good for five minutes")
    func expires() async throws {
        let api = try await APIHarness(proofs: .accept)
        let (early, late) = (try await proof(api), try await proof(api))
        api.time.advance(seconds: 298)
        #expect(try await register(api, early)["id"] != nil)
        api.time.advance(seconds: 2)
        #expect(code(try await register(api, late)) == "PROOF_REFUSED")
        #expect(api.refusals.all == ["sub-alice: the challenge has expired"])
    }

    @Test("what a refusal says is the same whatever is wrong, and nothing is registered")
    func mismatches() async throws {
        let api = try await APIHarness(proofs: .accept)
        let good = try await proof(api)
        let ofBob = try await proof(api, as: Self.bob)
        let ofOther = try await proof(api, token: "cc33")
        func changed(_ body: (inout JSONObject) -> Void) throws -> RegistrationProof {
            var object = try #require(good.json.objectValue)
            body(&object)
            return RegistrationProof(
                scheme: ProofScheme(rawValue: object["scheme"]?.stringValue ?? "") ?? .eip191,
                address: object["address"]?.stringValue ?? "",
                signature: object["signature"]?.stringValue ?? "",
                nonce: object["nonce"]?.stringValue ?? ""
            )
        }
        let wrong = [
            ofBob, ofOther, try changed { $0["scheme"] = "EIP712" }, try changed { $0["scheme"] = "P256" },
            try changed { $0["address"] = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" },
            try changed { $0["address"] = "" }, try changed { $0["signature"] = "0x" },
            try changed { $0["signature"] = .string(String(repeating: "f", count: 9000)) },
            try changed { $0["nonce"] = .string(ofBob.nonce) }, try changed { $0["nonce"] = "" },
            try changed { $0["nonce"] = .string(String(repeating: "n", count: 9000)) },
        ]
        var messages: Set<String> = []
        for proof in wrong {
            let answer = try await register(api, proof)
            #expect(code(answer) == "PROOF_REFUSED", "\(answer)")
            // Not too many within a minute.
            api.time.advance(seconds: 10)
            messages.insert(answer["errors"]?[0]?["message"]?.stringValue ?? "")
        }
        let otherPlatform = try await register(api, good, more: ["platform": "android"])
        messages.insert(otherPlatform["errors"]?[0]?["message"]?.stringValue ?? "")
        #expect(messages.count == 1 && messages.first?.contains("new registrationChallenge") == true, "\(messages)")
        #expect(api.refusals.all.count == wrong.count + 1)
        let left = try await api.run("{ devices { id } }")
        #expect(left["data"]?["devices"] == [])
        // None of that has used the challenge.
        #expect(try await register(api, good)["id"] != nil)
    }

    @Test("another user cannot use a proof, and a token that moves takes no address along")
    func otherUser() async throws {
        let api = try await APIHarness(proofs: .accept)
        let stolen = try await proof(api)
        #expect(code(try await register(api, stolen, as: Self.bob)) == "PROOF_REFUSED")
        #expect(try await register(api, stolen)["id"] != nil)
        let moved = try await register(api, nil, as: Self.bob)
        #expect(moved["id"] != nil && moved["address"]?.isNull == true, "\(moved)")
        #expect(try await addresses(api, try Self.wallet().address) == 0)
    }

    @Test("required: a new device, a new token and a new owner need a proof, the same again does not")
    func required() async throws {
        let api = try await APIHarness(proofs: .require)
        let bare = try await register(api, nil)
        #expect(code(bare) == "PROOF_REFUSED")
        #expect(bare["errors"]?[0]?["message"]?.stringValue?.contains("ask for registrationChallenge") == true)
        let device = try await register(api, try await proof(api))
        let again = try await register(api, nil)
        #expect(again["id"] == device["id"] && again["address"] == device["address"], "\(again)")
        #expect(again["provenAt"] == device["provenAt"])
        let id: JSONObject = ["deviceId": device["id"] ?? .null]
        #expect(code(try await register(api, nil, token: "cc33", more: id)) == "PROOF_REFUSED")
        #expect(code(try await register(api, nil, as: Self.bob)) == "PROOF_REFUSED")
        let renewed = try await register(api, try await proof(api, token: "cc33"), token: "cc33", more: id)
        #expect(renewed["id"] == device["id"] && renewed["address"] == device["address"], "\(renewed)")
    }

    @Test("accepted: a proof is not needed, and ends with the token that it was of")
    func accepted() async throws {
        let api = try await APIHarness(proofs: .accept)
        #expect(try await register(api, nil, token: "dd44")["address"]?.isNull == true)
        let device = try await register(api, try await proof(api))
        let id: JSONObject = ["deviceId": device["id"] ?? .null]
        let renewed = try await register(api, nil, token: "cc33", more: id)
        #expect(renewed["id"] == device["id"] && renewed["address"]?.isNull == true, "\(renewed)")
    }

    @Test(
        "off: there is no challenge, and a proof is refused with what to do",
        arguments: [RegistrationProofs.Mode.off, nil]
    )
    func off(mode: RegistrationProofs.Mode?) async throws {
        let api = try await APIHarness(proofs: mode)
        let answer = try await api.run("{ registrationChallenge { nonce } }")
        #expect(answer["data"]?["registrationChallenge"]?.isNull == true, "\(answer)")
        let proof = RegistrationProof(scheme: .eip191, address: "0x", signature: "0x", nonce: "n")
        let refused = try await register(api, proof)
        #expect(code(refused) == "BAD_USER_INPUT", "\(refused)")
        #expect(try await register(api, nil)["id"] != nil)
    }

    @Test("a token made for pushing reaches a wallet's devices by its address, of whichever users")
    func pushes() async throws {
        let api = try await APIHarness(proofs: .accept)
        let wallet = try Self.wallet()
        _ = try await register(api, try await proof(api))
        _ = try await register(api, try await proof(api, token: "cc33", as: Self.bob), token: "cc33", as: Self.bob)
        _ = try await register(api, nil, token: "dd44")
        func push(_ address: String, as caller: Identity, key: String = "") async throws -> JSONValue {
            let answer = try await api.run(
                """
                mutation($a: String, $k: String) { sendPush(address: $a, title: "t", key: $k) {
                  devices unknownTokens message { deliveries { items { status reason } } } } }
                """,
                ["a": .string(address), "k": key.isEmpty ? .null : .string(key)],
                as: caller
            )
            return answer["data"]?["sendPush"] ?? answer
        }
        var service = APIHarness.identity("backend")
        service.scope = .push
        #expect(try await push(wallet.address, as: service)["devices"] == 2)
        // Anybody else reaches their own devices alone.
        #expect(try await push(wallet.address, as: Self.alice)["devices"] == 1)
        let unknown = try await push(try Self.wallet(1).address, as: service)
        #expect(unknown["devices"] == 0 && unknown["unknownTokens"] == 0, "\(unknown)")
        #expect(
            unknown["message"]?["deliveries"]?["items"] == [["status": "SKIPPED", "reason": "UNKNOWN_ADDRESS"]],
            "\(unknown)"
        )
        #expect(code(try await push("vitalik.eth", as: service)) == "BAD_USER_INPUT")
        // A repeat sends nothing, and the same key for somebody else is a conflict.
        #expect(try await push(wallet.address, as: service, key: "k")["devices"] == 2)
        #expect(try await push(wallet.address, as: service, key: "k")["devices"] == 2)
        #expect(code(try await push(try Self.wallet(1).address, as: service, key: "k")) == "CONFLICT")
    }

    @Test("that a challenge was used is kept until some time after its end, and no longer")
    func reaping() async throws {
        let api = try await APIHarness(proofs: .accept)
        _ = try await register(api, try await proof(api))
        let reaper = ProofNonceReaper(store: api.store, time: api.time)
        api.time.advance(seconds: 600)
        #expect(try await reaper.runOnce() == 0)
        api.time.advance(seconds: 400)
        #expect(try await reaper.runOnce() == 1)
    }

    @Test("a token that only reads or only publishes gets no challenge")
    func scopes() async throws {
        let api = try await APIHarness(proofs: .require)
        for scope in [Identity.Scope.readOnly, .publish(topic: "t"), .push] {
            var caller = Self.alice
            caller.scope = scope
            let answer = try await api.run("{ registrationChallenge { nonce } }", as: caller)
            #expect(code(answer) == "UNAUTHORIZED", "\(answer)")
        }
    }
}
