import JSON
import Synchronization

/// The token endpoint: assertions in, access tokens out, as Google's (RFC 7523).
final class AccessTokens: Sendable {
    private struct State {
        /// Access tokens given out, and when each ends (milliseconds).
        var ends: [String: Int64] = [:]
        var issued = 0
        var refused: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let settings: SimulatorSettings
    private let conditions: Conditions
    private let key: KeyPair
    /// Set when the ports are known: the endpoint's URLs, one of which
    /// assertions must carry as `aud`.
    let audiences = Mutex<[String]>([])

    private static let maximumTokens = 10_000

    init(settings: SimulatorSettings, conditions: Conditions, key: KeyPair) {
        self.settings = settings
        self.conditions = conditions
        self.key = key
    }

    /// Makes an access token as the endpoint would.
    func issue() -> String {
        let digits = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
        let token = "ya29.sim." + digits.joined()
        let end = settings.nowMilliseconds() + Int64(conditions.limits.accessTokenSeconds) * 1000
        state.withLock { state in
            if state.ends.count >= Self.maximumTokens { state.ends.removeAll() }
            state.ends[token] = end
            state.issued += 1
        }
        return token
    }

    /// Ends all access tokens given out so far.
    func endAll() { state.withLock { $0.ends = [:] } }

    /// Whether the bearer may send now; the reason if not.
    func check(_ request: WireRequest) throws(FCMFailure) {
        guard let header = request.value("authorization"), header.prefix(7).lowercased() == "bearer " else {
            throw FCMFailure.unauthenticated("authorization is not of the form: Bearer <token>")
        }
        let token = String(header.dropFirst(7))
        guard let end = state.withLock({ $0.ends[token] }) else {
            throw FCMFailure.unauthenticated("the access token was not given out by this simulator")
        }
        guard settings.nowMilliseconds() < end else {
            throw FCMFailure.unauthenticated("the access token has ended")
        }
    }

    func answer(_ request: WireRequest) -> WireAnswer {
        if let refusal = refusal(request) {
            state.withLock { $0.refused[refusal.error, default: 0] += 1 }
            let body: JSONValue = [
                "error": .string(refusal.error), "error_description": .string(refusal.description),
            ]
            return Self.answer(refusal.error == "method_not_allowed" ? 405 : 400, body)
        }
        return Self.answer(
            200,
            [
                "access_token": .string(issue()), "expires_in": .int(Int64(conditions.limits.accessTokenSeconds)),
                "token_type": "Bearer",
            ]
        )
    }

    var json: JSONObject {
        state.withLock { state in
            var refused = JSONObject()
            for (reason, count) in state.refused.sorted(by: { $0.key < $1.key }) {
                refused[reason] = .int(Int64(count))
            }
            return ["issued": .int(Int64(state.issued)), "refused": .object(refused)]
        }
    }

    private static func answer(_ status: Int, _ body: JSONValue) -> WireAnswer {
        WireAnswer(
            status: status,
            headers: [("content-type", "application/json; charset=utf-8"), ("cache-control", "no-store")],
            body: body.serialized()
        )
    }

    private func refusal(_ request: WireRequest) -> (error: String, description: String)? {
        guard request.method == "POST" else { return ("method_not_allowed", "Use POST.") }
        let mediaType = request.value("content-type")?.split(separator: ";").first?.lowercased()
        guard !settings.recording || mediaType == "application/x-www-form-urlencoded" else {
            return ("invalid_request", "Content-Type must be application/x-www-form-urlencoded.")
        }
        let form = FormFields.parse(request.body)
        guard form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer" else {
            return ("unsupported_grant_type", "Invalid grant_type: \(form["grant_type"] ?? "")")
        }
        guard let assertion = form["assertion"], let token = JSONWebToken(assertion) else {
            return ("invalid_grant", "Invalid JWT: it has no three parts of JSON.")
        }
        return claimRefusal(token)
    }

    private func claimRefusal(_ token: JSONWebToken) -> (error: String, description: String)? {
        guard token.isRS256(by: key) else { return ("invalid_grant", "Invalid JWT Signature.") }
        guard token.claims["iss"]?.stringValue == SimulatorKeys.accountEmail(projectID: settings.projectID) else {
            return ("invalid_grant", "Invalid grant: account not found")
        }
        if let keyID = token.header["kid"]?.stringValue, keyID != SimulatorKeys.accountKeyID {
            return ("invalid_grant", "Invalid JWT Signature.")
        }
        let scopes = token.claims["scope"]?.stringValue?.split(separator: " ") ?? []
        guard
            scopes.contains("https://www.googleapis.com/auth/firebase.messaging")
                || scopes.contains("https://www.googleapis.com/auth/cloud-platform")
        else {
            return ("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
        }
        let audiences = audiences.withLock { $0 }
        guard let audience = token.claims["aud"]?.stringValue, audiences.contains(audience) else {
            return ("invalid_grant", "Invalid JWT: aud must be \(audiences.first ?? "").")
        }
        let now = settings.nowMilliseconds() / 1000
        guard let start = token.claims["iat"]?.intValue, let end = token.claims["exp"]?.intValue,
            start <= now + 300, end > now, end - start <= 3600
        else {
            return (
                "invalid_grant",
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
                    + "Check your iat and exp values in the JWT claim."
            )
        }
        return nil
    }
}

/// Fields of a form body (`application/x-www-form-urlencoded`).
enum FormFields {
    static func parse(_ body: [UInt8]) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in body.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            fields[decode(parts[0])] = decode(parts[1])
        }
        return fields
    }

    private static func decode(_ bytes: ArraySlice<UInt8>) -> String {
        var plain: [UInt8] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            let code = bytes[index...].dropFirst().prefix(2)
            if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: code, as: UTF8.self), radix: 16) {
                plain.append(value)
                index += 3
            } else {
                plain.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }
}
