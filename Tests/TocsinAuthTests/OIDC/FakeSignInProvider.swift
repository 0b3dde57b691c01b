import Encodings
import Foundation
import JSON
import Synchronization
import TocsinAuth
import TocsinCore

/// A provider of our own: honest, unless its behaviour is changed.
final class FakeSignInProvider: OutgoingHTTP {
    static let issuer = "https://id.example"
    static let accessToken = "access-1"

    /// What it says and does; changed by tests.
    struct Behaviour: Sendable {
        var document = honestDocument
        static let honestDocument: JSONObject = [
            "issuer": .string(FakeSignInProvider.issuer),
            "authorization_endpoint": "https://id.example/authorize",
            "token_endpoint": "https://id.example/token",
            "jwks_uri": "https://id.example/keys",
            "end_session_endpoint": "https://id.example/logout",
            "response_types_supported": ["code"],
            "authorization_response_iss_parameter_supported": true,
        ]
        /// In place of the document.
        var discovery: OutgoingAnswer?
        var keys = OutgoingAnswer.json(Fixtures.keySet)
        /// In place of what the token endpoint says.
        var tokens: OutgoingAnswer?
        /// How long each answer takes.
        var seconds = 0.0
        var header: JSONObject = ["alg": "ES256", "kid": "ec-1"]
        var key: any Signer
        var claims: JSONObject
        /// In place of a signed token.
        var idToken: String?
        var hasIDToken = true
        var repeatsNonce = true
    }

    private struct State {
        var behaviour: Behaviour
        var calls: [OutgoingRequest] = []
        var challenge: String?
        var nonce: String?
    }

    private let state: Mutex<State>

    init(at time: ManualTime) throws {
        let second = time.now().milliseconds / 1000
        let claims: JSONObject = [
            "iss": .string(Self.issuer), "aud": "app-1", "sub": "0f9d", "preferred_username": "alice",
            "email": "alice@example.com", "iat": .int(second), "exp": .int(second + 300),
        ]
        let key = try PrivateKey(pem: Fixtures.ecPKCS8)
        state = Mutex(State(behaviour: Behaviour(key: key, claims: claims)))
    }

    func change(_ change: (inout Behaviour) -> Void) {
        state.withLock { change(&$0.behaviour) }
    }

    /// The calls so far whose address ends so.
    func calls(to path: String) -> [OutgoingRequest] {
        state.withLock { $0.calls.filter { $0.url.hasSuffix(path) } }
    }

    /// Does what a browser and a person do at the authorization endpoint; the callback's query.
    func authorize(_ location: String) -> [(name: String, value: String)] {
        let query = Form.pairs(ofAddress: location)
        state.withLock { state in
            state.challenge = query["code_challenge"]
            state.nonce = query["nonce"]
        }
        return [("code", "code-1"), ("state", query["state"] ?? ""), ("iss", Self.issuer)]
    }

    func send(_ request: OutgoingRequest) async -> OutgoingAnswer {
        let (behaviour, challenge) = state.withLock { state in
            state.calls.append(request)
            var behaviour = state.behaviour
            if behaviour.repeatsNonce, behaviour.claims["nonce"] == nil {
                behaviour.claims["nonce"] = state.nonce.map { .string($0) }
            }
            return (behaviour, state.challenge)
        }
        guard behaviour.seconds <= request.timeoutSeconds else { return .failed(reason: "timed out") }
        let answer = Self.answer(request, behaviour, challenge)
        if case .response(_, _, let body) = answer, body.count > request.maximumBodyBytes {
            return .failed(reason: "the body is too long")
        }
        return answer
    }

    private static func answer(
        _ request: OutgoingRequest,
        _ behaviour: Behaviour,
        _ challenge: String?
    ) -> OutgoingAnswer {
        switch URLComponents(string: request.url)?.path {
        case let path? where path.hasSuffix("/.well-known/openid-configuration"):
            behaviour.discovery ?? .json(JSONValue.object(behaviour.document).serializedString())
        case "/keys": behaviour.keys
        case "/token": behaviour.tokens ?? tokens(Form.pairs(request.body), behaviour, challenge)
        default: .response(status: 404, headers: [], body: [])
        }
    }

    /// A code without its verifier is refused, as strict providers do.
    private static func tokens(
        _ form: [String: String],
        _ behaviour: Behaviour,
        _ challenge: String?
    ) -> OutgoingAnswer {
        let proof = Base64URL.encoded(Digest.sha256(Array((form["code_verifier"] ?? "").utf8)))
        let isGood =
            form["grant_type"] == "refresh_token" ? form["refresh_token"] == "refresh-1" : proof == challenge
        guard isGood else { return .json(#"{"error":"invalid_grant"}"#, status: 400) }
        var answer: JSONObject = [
            "access_token": .string(accessToken), "token_type": "Bearer", "refresh_token": "refresh-1",
        ]
        if behaviour.hasIDToken {
            let signed = try? Forge.token(header: behaviour.header, claims: behaviour.claims, key: behaviour.key)
            answer["id_token"] = .string(behaviour.idToken ?? signed ?? "")
        }
        return .json(JSONValue.object(answer).serializedString())
    }
}

extension OutgoingAnswer {
    static func json(_ text: String, status: Int = 200) -> OutgoingAnswer {
        .response(status: status, headers: [], body: Array(text.utf8))
    }
}

/// Reads forms and queries, by Foundation.
enum Form {
    static func pairs(_ body: [UInt8]) -> [String: String] { pairs(query: String(decoding: body, as: UTF8.self)) }

    static func pairs(ofAddress text: String) -> [String: String] {
        pairs(query: URLComponents(string: text)?.percentEncodedQuery ?? "")
    }

    private static func pairs(query: String) -> [String: String] {
        var components = URLComponents()
        components.percentEncodedQuery = query
        let items = components.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first + " and again" }
    }
}
