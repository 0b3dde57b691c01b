import Encodings
import JSON
import Synchronization
import TestDatabases
import TocsinAuth
import TocsinCore
import TocsinStore

/// Time that moves only when told to; nothing sleeps on it here.
final class ManualTime: TimeSource {
    private let moment: Mutex<Timestamp>

    init(seconds: Int64 = 1_800_000_100) {
        moment = Mutex(Timestamp(milliseconds: seconds * 1000))
    }

    func now() -> Timestamp { moment.withLock { $0 } }

    func sleep(until moment: Timestamp) async throws { throw CancellationError() }

    func advance(seconds: Double) {
        moment.withLock { $0 = $0.adding(seconds: seconds) }
    }
}

/// Answers outgoing calls from a script and counts them.
final class ScriptedHTTP: OutgoingHTTP {
    private struct State {
        var answer: OutgoingAnswer
        var calls = 0
    }

    private let state: Mutex<State>

    init(_ answer: OutgoingAnswer) {
        state = Mutex(State(answer: answer))
    }

    var calls: Int { state.withLock { $0.calls } }

    func answer(_ answer: OutgoingAnswer) {
        state.withLock { $0.answer = answer }
    }

    func send(_ request: OutgoingRequest) async -> OutgoingAnswer {
        // Lets other callers arrive while this call is under way.
        for _ in 0..<20 { await Task.yield() }
        return state.withLock { state in
            state.calls += 1
            return state.answer
        }
    }

    static func json(_ text: String) -> OutgoingAnswer {
        .response(status: 200, headers: [], body: Array(text.utf8))
    }
}

/// Makes tokens with any header and claims, signed by any key.
enum Forge {
    static let claims: JSONObject = [
        "iss": "https://id.example", "aud": "app-1", "sub": "0f9d", "username": "alice", "iat": 1_800_000_000,
        "exp": 1_800_003_600,
    ]

    static func token(header: JSONObject, claims: JSONObject = claims, key: any Signer) throws -> String {
        try token(
            header: JSONValue.object(header).serialized(),
            claims: JSONValue.object(claims).serialized(),
            key: key
        )
    }

    static func token(header: [UInt8], claims: [UInt8], key: any Signer) throws -> String {
        let signed = Base64URL.encoded(header) + "." + Base64URL.encoded(claims)
        return signed + "." + Base64URL.encoded(try key.signature(for: Array(signed.utf8)))
    }

    /// A token of the secret in the fixtures with some claims changed; null takes one away.
    static func hs256(_ changes: [(String, JSONValue)]) throws -> String {
        var claims = claims
        for (name, value) in changes { claims[name] = value.isNull ? Optional.none : value }
        return try token(
            header: ["alg": "HS256"],
            claims: claims,
            key: HMACKey(secret: Array(Fixtures.hs256Secret.utf8))
        )
    }
}

/// An authenticator with its dependencies, over a store of its own that is empty.
struct World {
    let time: ManualTime
    let store: SQLStore
    let local: LocalTokens
    let authenticator: TokenAuthenticator

    init(_ keys: KeySource?, time: ManualTime = ManualTime()) async throws {
        self.time = time
        store = try await SQLStore.open(AnyDatabase.makeSQLite(), at: time.now())
        local = LocalTokens(try ServerKey(secret: [UInt8](repeating: 7, count: 32)))
        let external = keys.map {
            ExternalTokens(issuer: "https://id.example", audiences: ["app-1", "app-2"], keys: $0)
        }
        authenticator = TokenAuthenticator(local: local, external: external, store: store, time: time)
    }

    static func secret() async throws -> World {
        try await World(.secret(HMACKey(secret: Array(Fixtures.hs256Secret.utf8))))
    }

    static func keySet() async throws -> World {
        try await World(.fixed(KeySet(json: Array(Fixtures.keySet.utf8))))
    }

    func result(_ token: String) async -> AuthenticationResult { await authenticator.authenticate(token: token) }

    /// Who the token stands for, where that is told without waiting.
    func recognized(_ token: String) -> Identity? {
        authenticator.identity(rememberedBy: authenticator.fingerprint(of: token), from: nil)
    }

    /// Stores accounts, then tokens and keys, each in place of what has its id.
    func save(accounts: [Account] = [], tokens: [IssuedToken] = [], keys: [APIKey] = []) async throws {
        try await store.write { writer throws(StoreError) in
            for account in accounts { try writer.save(account) }
            for token in tokens { try writer.save(token) }
            for key in keys { try writer.save(key) }
        }
    }
}
