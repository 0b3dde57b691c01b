import Encodings
import TocsinCore

/// Asks a provider for tokens, as the client that it knows (RFC 6749 §4.1.3 and §6).
struct TokenEndpoint {
    private static let timeoutSeconds = 10.0

    let provider: OIDCProvider
    let metadata: ProviderMetadata
    let http: any OutgoingHTTP

    /// What a code stands for; the verifier proves that it is ours.
    func redeem(_ code: String, verifier: String, redirectAddress: String) async throws(OIDCRefusal) -> TokenAnswer {
        try await ask([
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirectAddress),
            ("code_verifier", verifier),
        ])
    }

    /// New tokens for an old one; the refusal `grantRefused` says that it is over.
    func renew(_ refreshToken: String) async throws(OIDCRefusal) -> TokenAnswer {
        try await ask([("grant_type", "refresh_token"), ("refresh_token", refreshToken)])
    }

    private func ask(_ form: [(String, String)]) async throws(OIDCRefusal) -> TokenAnswer {
        switch await http.send(try request(form)) {
        case .response(200, _, let body): return try TokenAnswer(json: body)
        case .response(let status, _, let body): throw refusal(status, TokenAnswer.error(json: body))
        case .failed(let reason):
            throw OIDCRefusal(.providerAway, "The token endpoint \(metadata.tokenEndpoint) does not answer: \(reason).")
        }
    }

    private func request(_ form: [(String, String)]) throws(OIDCRefusal) -> OutgoingRequest {
        var form = form.map { (name: $0.0, value: $0.1) }
        var headers = [
            (name: "content-type", value: "application/x-www-form-urlencoded"),
            (name: "accept", value: "application/json"),
        ]
        switch try authentication() {
        case .none: form.append(("client_id", provider.clientID))
        case .basic(let secret): headers.append(("authorization", basicCredentials(secret)))
        case .post(let secret):
            form += [("client_id", provider.clientID), ("client_secret", secret.contents)]
        }
        return OutgoingRequest(
            method: "POST",
            url: metadata.tokenEndpoint.text,
            headers: headers,
            body: Array(FormText.encoded(form).utf8),
            timeoutSeconds: Self.timeoutSeconds,
            maximumBodyBytes: TokenAnswer.maximumBytes
        )
    }

    /// How this client proves itself (OpenID Connect Core §9).
    private enum Authentication {
        case none
        case basic(ClientSecret)
        case post(ClientSecret)
    }

    private func authentication() throws(OIDCRefusal) -> Authentication {
        guard let secret = provider.secret else { return .none }
        if metadata.authentications.contains("client_secret_basic") { return .basic(secret) }
        if metadata.authentications.contains("client_secret_post") { return .post(secret) }
        throw OIDCRefusal(
            .clientRefused,
            "The provider \(provider.issuer) takes a client's secret neither by client_secret_basic nor by "
                + "client_secret_post. Register a public client, or allow one of them."
        )
    }

    /// Ordinary base 64 (RFC 7617) of both halves, each written as in forms (RFC 6749 §2.3.1).
    private func basicCredentials(_ secret: ClientSecret) -> String {
        let pair = FormText.encoded(provider.clientID) + ":" + FormText.encoded(secret.contents)
        let letters = Base64URL.encoded(Array(pair.utf8)).utf8.map { letter in
            switch letter {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: letter
            }
        }
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - letters.count % 4) % 4)
        return "Basic " + String(decoding: letters + padding, as: UTF8.self)
    }

    private func refusal(_ status: Int, _ error: ProviderError?) -> OIDCRefusal {
        let endpoint = metadata.tokenEndpoint
        guard let error else {
            let isAway = status >= 500 || status == 429 || status == 408
            return OIDCRefusal(
                isAway ? .providerAway : .tokenAnswerRefused,
                "The token endpoint \(endpoint) answered with \(OIDCRefusal.shown(status: status))."
            )
        }
        let code: OIDCRefusal.Code =
            switch error {
            case .invalidGrant: .grantRefused
            case _ where error.isAway || status >= 500 || status == 429: .providerAway
            case _ where error.isAboutClient: .clientRefused
            default: .providerError
            }
        return OIDCRefusal(code, "The token endpoint \(endpoint) refused: \(error.rawValue).", providerError: error)
    }
}
