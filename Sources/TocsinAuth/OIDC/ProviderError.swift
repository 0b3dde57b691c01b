/// The errors that a provider may answer (RFC 6749 §4.1.2.1 and §5.2, OpenID Connect Core
/// §3.1.2.6).
///
/// Only these words are ever shown; what else a provider says is left out.
package enum ProviderError: String, Sendable, Hashable, CaseIterable {
    case accessDenied = "access_denied"
    case accountSelectionRequired = "account_selection_required"
    case consentRequired = "consent_required"
    case interactionRequired = "interaction_required"
    case invalidClient = "invalid_client"
    case invalidGrant = "invalid_grant"
    case invalidRequest = "invalid_request"
    case invalidRequestObject = "invalid_request_object"
    case invalidRequestURI = "invalid_request_uri"
    case invalidScope = "invalid_scope"
    case loginRequired = "login_required"
    case registrationNotSupported = "registration_not_supported"
    case requestNotSupported = "request_not_supported"
    case requestURINotSupported = "request_uri_not_supported"
    case serverError = "server_error"
    case temporarilyUnavailable = "temporarily_unavailable"
    case unauthorizedClient = "unauthorized_client"
    case unsupportedGrantType = "unsupported_grant_type"
    case unsupportedResponseType = "unsupported_response_type"
    /// Any other word.
    case other = "other_error"

    init(_ text: String) {
        self = Self(rawValue: text) ?? .other
    }

    /// Whether the provider says of itself that it cannot answer now.
    var isAway: Bool { self == .serverError || self == .temporarilyUnavailable }

    /// Whether it refuses this server, whoever signs in.
    var isAboutClient: Bool {
        switch self {
        case .invalidClient, .invalidScope, .unauthorizedClient, .unsupportedGrantType, .unsupportedResponseType: true
        default: false
        }
    }
}
