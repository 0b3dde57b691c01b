package import TocsinCore

/// What is needed to push to browsers (RFC 8292).
package struct WebPushCredentials: Sendable {
    /// The application server's private key: ES256.
    package var signer: any Signer
    /// Its public half, uncompressed, in base 64 for URLs.
    package var publicKey: String
    /// Whom a push service may turn to: `mailto:…` or `https://…`.
    package var subject: String

    /// The server's pair of keys and its contact address.
    package init(signer: any Signer, publicKey: String, subject: String) {
        self.signer = signer
        self.publicKey = publicKey
        self.subject = subject
    }
}
