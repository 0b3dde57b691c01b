/// The address at which a browser ends its session with the provider.
struct LogoutAddress {
    let provider: OIDCProvider
    let metadata: ProviderMetadata

    /// nil where the provider has none.
    ///
    /// - Parameters:
    ///   - idToken: says whose session is meant; providers without it ask the person.
    ///   - returnAddress: where the provider sends the browser; it must know the address.
    func text(idToken: String?, returnAddress: String?) -> String? {
        isCognito
            ? cognitoAddress(returnAddress: returnAddress)
            : metadata.endSessionEndpoint?.adding(parameters(idToken: idToken, returnAddress: returnAddress))
    }

    /// OpenID Connect RP-Initiated Logout §2.
    private func parameters(idToken: String?, returnAddress: String?) -> [(name: String, value: String)] {
        var parameters = [(name: "client_id", value: provider.clientID)]
        if let idToken { parameters.append(("id_token_hint", idToken)) }
        if let returnAddress { parameters.append(("post_logout_redirect_uri", returnAddress)) }
        return parameters
    }

    private var isCognito: Bool {
        guard let origin = EndpointAddress(provider.issuer)?.origin else { return false }
        return origin.hasPrefix("https://cognito-idp.")
            && (origin.hasSuffix(".amazonaws.com") || origin.hasSuffix(".amazonaws.com.cn"))
    }

    /// Amazon Cognito: the logout endpoint, beside the authorization endpoint; it needs an address
    /// to go to.
    private func cognitoAddress(returnAddress: String?) -> String? {
        let beside = EndpointAddress(metadata.authorizationEndpoint.origin + "/logout")
        guard let endpoint = metadata.endSessionEndpoint ?? beside, let returnAddress else { return nil }
        return endpoint.adding([("client_id", provider.clientID), ("logout_uri", returnAddress)])
    }
}
