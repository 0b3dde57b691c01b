import JSON
package import TocsinCore
import Synchronization

/// The tokens that tell push services who pushes: one for each service, used for
/// half a day (RFC 8292 §2).
package final class VAPIDTokenSource: Sendable {
    private struct Issued {
        var text: String
        var at: Timestamp
    }

    /// A service refuses what ends in more than 24 hours.
    private static let lifeSeconds: Int64 = 12 * 3600
    /// A token that ends while a request is under way would be refused.
    private static let reuseSeconds = Double(lifeSeconds) - 600
    /// Clients name the services, so there may be many.
    private static let maximumTokens = 1000
    private let credentials: WebPushCredentials
    private let time: any TimeSource
    private let metrics: ProviderMetrics?
    private let tokens = Mutex<[String: Issued]>([:])

    /// A source without tokens, which makes one for each service that is asked for.
    package init(credentials: WebPushCredentials, time: any TimeSource, metrics: ProviderMetrics? = nil) {
        self.metrics = metrics
        self.credentials = credentials
        self.time = time
    }

    /// The value of `Authorization` for a service, by its origin.
    package func authorization(for origin: String) throws(KeyError) -> String {
        let now = time.now()
        let token = try tokens.withLock { tokens throws(KeyError) in
            if let issued = tokens[origin], now < issued.at.adding(seconds: Self.reuseSeconds) { return issued.text }
            if tokens.count >= Self.maximumTokens { tokens.removeAll() }
            let text = try issue(origin, now)
            tokens[origin] = Issued(text: text, at: now)
            return text
        }
        return "vapid t=\(token), k=\(credentials.publicKey)"
    }

    /// The service refused its token: the next one is made anew.
    package func reject(for origin: String) {
        tokens.withLock { $0[origin] = nil }
    }

    private func issue(_ origin: String, _ now: Timestamp) throws(KeyError) -> String {
        let claims: JSONObject = [
            "aud": .string(origin), "exp": .int(now.milliseconds / 1000 + Self.lifeSeconds),
            "sub": .string(credentials.subject),
        ]
        return try metrics.made { () throws(KeyError) in
            try WebToken.make(claims: claims, keyID: nil, signer: credentials.signer)
        }
    }
}

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
