import Synchronization
import TocsinAuth
import TocsinCore

/// Where the keys of the sign-in provider's tokens come from; a set that was fetched is kept
/// while its address stays.
final class ProviderKeySource: Sendable {
    private let http: any OutgoingHTTP
    private let time: any TimeSource
    private let metrics: AuthMetrics?
    private let fetched = Mutex<(url: String, keys: RemoteKeySet)?>(nil)

    init(http: any OutgoingHTTP, time: any TimeSource, metrics: AuthMetrics?) {
        (self.http, self.time, self.metrics) = (http, time, metrics)
    }

    /// nil where people sign in by the server's own tokens alone.
    func externalTokens(_ signIn: Settings.SignIn) throws(StartError) -> ExternalTokens? {
        guard let issuer = signIn.issuer else { return nil }
        return ExternalTokens(
            issuer: issuer,
            audiences: Set(signIn.audiences),
            keys: try keys(signIn),
            provider: signIn.provider == "oidc" ? .oidc : .userPools,
            usernameClaims: signIn.usernameClaims,
            claimedGroups: signIn.claimedGroups,
            areToBeKnown: signIn.allOIDC.contains { $0.issuer == issuer && $0.signup == "invited" }
        )
    }

    private func keys(_ signIn: Settings.SignIn) throws(StartError) -> KeySource {
        do {
            if let secret = signIn.hs256Secret { return .secret(try HMACKey(secret: Array(secret.contents.utf8))) }
            if let json = signIn.jwks { return .fixed(try KeySet(json: json)) }
        } catch {
            throw StartError(error.description)
        }
        guard let url = signIn.jwksURL else {
            throw StartError(
                "External sign-in needs keys: set TOCSIN_JWKS_URL, TOCSIN_JWKS_FILE or TOCSIN_JWT_HS256_SECRET."
            )
        }
        return .remote(remote(url))
    }

    private func remote(_ url: String) -> RemoteKeySet {
        fetched.withLock { fetched in
            if let fetched, fetched.url == url { return fetched.keys }
            let keys = RemoteKeySet(url: url, http: http, time: time, fetchGauge: metrics?.makeKeySetGauge())
            fetched = (url, keys)
            return keys
        }
    }
}
