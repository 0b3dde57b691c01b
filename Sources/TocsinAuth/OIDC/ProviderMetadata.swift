import JSON

/// What a provider says of itself, checked (OpenID Connect Discovery §3).
package struct ProviderMetadata: Sendable, Hashable {
    /// Longer documents are refused.
    static let maximumBytes = 256 * 1024
    private static let limits = JSONLimits(
        maximumBytes: maximumBytes,
        maximumDepth: 16,
        maximumValues: 10_000
    )

    /// Equal to the setting, byte by byte.
    let issuer: String
    let authorizationEndpoint: EndpointAddress
    let tokenEndpoint: EndpointAddress
    let keySetAddress: EndpointAddress
    let endSessionEndpoint: EndpointAddress?
    /// How a client with a secret proves itself at the token endpoint.
    let authentications: [String]
    /// Whether callbacks carry `iss` (RFC 9207).
    let announcesIssuer: Bool

    init(json bytes: [UInt8], issuer: String) throws(OIDCRefusal) {
        guard let document = StrictJSON.object(bytes, limits: Self.limits) else {
            throw Self.refused(issuer, "is no JSON object, has a member twice, or is beyond the limits")
        }
        guard let named = document["issuer"]?.stringValue, named.utf8.elementsEqual(issuer.utf8) else {
            let named = document["issuer"]?.stringValue.map(OIDCRefusal.shown) ?? "nobody"
            throw Self.refused(issuer, "names \(named) as its issuer; both must be equal to the last slash")
        }
        self.issuer = issuer
        authorizationEndpoint = try Self.address("authorization_endpoint", in: document, issuer)
        tokenEndpoint = try Self.address("token_endpoint", in: document, issuer)
        keySetAddress = try Self.address("jwks_uri", in: document, issuer)
        endSessionEndpoint =
            document["end_session_endpoint"] == nil
            ? nil : try Self.address("end_session_endpoint", in: document, issuer)
        // Its default (Discovery §3).
        authentications =
            try Self.texts("token_endpoint_auth_methods_supported", in: document, issuer) ?? ["client_secret_basic"]
        announcesIssuer = document["authorization_response_iss_parameter_supported"] == .bool(true)
        try Self.refuseUnknownFlows(document, issuer)
    }

    private static func refuseUnknownFlows(_ document: JSONObject, _ issuer: String) throws(OIDCRefusal) {
        if let types = try texts("response_types_supported", in: document, issuer), !types.contains("code") {
            throw refused(issuer, "does not offer the code flow")
        }
        let algorithms = try texts("id_token_signing_alg_values_supported", in: document, issuer)
        if let algorithms, !algorithms.contains(where: SignatureAlgorithm.publicNames.contains) {
            throw refused(issuer, "signs ID tokens by none of RS256, PS256, ES256 and EdDSA")
        }
    }

    private static func address(
        _ name: String,
        in document: JSONObject,
        _ issuer: String
    ) throws(OIDCRefusal) -> EndpointAddress {
        guard let address = document[name]?.stringValue.flatMap(EndpointAddress.init) else {
            throw refused(issuer, "has no https address as \(name) (http only on loopback)")
        }
        return address
    }

    private static func texts(
        _ name: String,
        in document: JSONObject,
        _ issuer: String
    ) throws(OIDCRefusal) -> [String]? {
        guard let value = document[name] else { return nil }
        let texts = value.arrayValue?.compactMap(\.stringValue)
        guard let texts, texts.count == value.arrayValue?.count else {
            throw refused(issuer, "has no list of texts as \(name)")
        }
        return texts
    }

    private static func refused(_ issuer: String, _ what: String) -> OIDCRefusal {
        OIDCRefusal(.discoveryRefused, "The discovery document of \(issuer) \(what).")
    }
}
