/// Why a sign-in through a provider, or its renewal, was refused.
package struct OIDCRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// For the audit; once released, a name keeps its meaning.
    package enum Code: String, Sendable, CaseIterable {
        // The provider
        case providerUnknown = "provider_unknown"
        case providerAway = "provider_away"
        case discoveryRefused = "discovery_refused"
        case providerError = "provider_error"
        // The callback
        case callbackMalformed = "callback_malformed"
        case stateMissing = "state_missing"
        case stateMismatch = "state_mismatch"
        case stateExpired = "state_expired"
        case stateUsed = "state_used"
        case issuerMismatch = "issuer_mismatch"
        case tooManyCallbacks = "too_many_callbacks"
        // The token endpoint
        case grantRefused = "grant_refused"
        case clientRefused = "client_refused"
        case tokenAnswerRefused = "token_answer_refused"
        // The ID token
        case tokenMalformed = "id_token_malformed"
        case tokenAlgorithm = "id_token_algorithm"
        case tokenKeyUnknown = "id_token_key_unknown"
        case tokenSignature = "id_token_signature"
        case tokenIssuer = "id_token_issuer"
        case tokenAudience = "id_token_audience"
        case tokenParty = "id_token_party"
        case tokenExpired = "id_token_expired"
        case tokenIssuedAt = "id_token_issued_at"
        case tokenNonce = "id_token_nonce"
        case tokenAccessHash = "id_token_access_hash"
        case tokenAuthTime = "id_token_auth_time"
        // The person
        case personInvalid = "person_invalid"
        case personOther = "person_other"
        case groupsOverage = "groups_overage"
        case groupsMalformed = "groups_malformed"
        case groupsNotAllowed = "groups_not_allowed"
        case claimRequired = "claim_required"
    }

    /// What went wrong, for programs.
    package let code: Code
    /// One sentence for the log: what was wrong and what to do.
    ///
    /// Holds no secret. What it quotes of the provider is short and plain.
    package let description: String
    /// The provider's own error, where it gave one: of a fixed list, so that it may be shown.
    package let providerError: ProviderError?

    init(_ code: Code, _ description: String, providerError: ProviderError? = nil) {
        (self.code, self.description, self.providerError) = (code, description, providerError)
    }

    /// Whether trying again later may help, and nothing was said of the person.
    package var isAway: Bool { code == .providerAway }

    /// What an answer with this status says, for a sentence.
    static func shown(status: Int) -> String {
        "status \(status)" + ((300..<400).contains(status) ? ", and redirects are not followed" : "")
    }

    /// At most 80 printable characters of a foreign text, for a sentence.
    static func shown(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(80).map { scalar -> Unicode.Scalar in
            (0x20...0x7E).contains(scalar.value) ? scalar : "?"
        }
        return scalars.reduce(into: "") { $0.unicodeScalars.append($1) }
    }
}
