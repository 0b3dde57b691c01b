package import TocsinCore

/// A Firebase service account, as its JSON key file gives it.
package struct FCMCredentials: Sendable {
    /// The Firebase project that messages are sent through.
    package var projectID: String
    /// The account's address: the `iss` of its requests for tokens.
    package var clientEmail: String
    /// `private_key_id`, sent as `kid`; optional.
    package var keyID: String?
    /// The account's private key: RS256.
    package var signer: any Signer
    /// `https://host:port` of the send service.
    package var origin: String
    /// `token_uri`.
    package var tokenURL: String
    /// Whether the app has Apple's leave for alerts that sound through silence (an entitlement).
    package var mayBeCritical = false

    /// Credentials of one project; by default with Google's own addresses.
    package init(
        projectID: String,
        clientEmail: String,
        keyID: String? = nil,
        signer: any Signer,
        origin: String = "https://fcm.googleapis.com:443",
        tokenURL: String = "https://oauth2.googleapis.com/token"
    ) {
        self.projectID = projectID
        self.clientEmail = clientEmail
        self.keyID = keyID
        self.signer = signer
        self.origin = origin
        self.tokenURL = tokenURL
    }
}
