/// The address to which a browser goes to sign in (OpenID Connect Core §3.1.2.1).
struct AuthorizationRequest {
    let provider: OIDCProvider
    let redirectAddress: String
    let state: SignInState

    func address(at endpoint: EndpointAddress) -> String { endpoint.adding(parameters) }

    private var parameters: [(name: String, value: String)] {
        var parameters = [
            ("response_type", "code"),
            ("client_id", provider.clientID),
            ("redirect_uri", redirectAddress),
            ("scope", provider.scopes.joined(separator: " ")),
            ("state", state.state),
            ("nonce", state.nonce),
            ("code_challenge", state.challenge),
            ("code_challenge_method", "S256"),
        ]
        if let audience = provider.audience { parameters.append(("audience", audience)) }
        if let domain = provider.hostedDomain { parameters.append(("hd", domain)) }
        if state.isFresh { parameters += [("prompt", "login"), ("max_age", "0")] }
        return parameters.map { (name: $0.0, value: $0.1) }
    }
}
