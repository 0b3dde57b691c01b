package import TocsinCore

/// All providers with which people sign in, and the one callback that they share.
package struct OIDCSignIns: Sendable {
    /// The path of the callback below the public address.
    package static let callbackPath = "/auth/callback"

    /// In the order of the settings.
    package let all: [OIDCSignIn]
    private let states: SignInStates
    /// Each callback is a request to a provider; one network makes at most so many in a minute.
    private let callbacks = MinuteRate(30)
    private let time: any TimeSource

    /// Sign-ins with providers whose settings have no `problems` and whose ids differ.
    ///
    /// `publicAddress` is where browsers find this server; a slash at its end does not count. Each
    /// provider must know `<public>/auth/callback` as a redirect address, byte by byte.
    package init(
        _ providers: [OIDCProvider],
        publicAddress: EndpointAddress,
        sealer: any Sealer,
        http: any OutgoingHTTP,
        time: any TimeSource,
        metrics: AuthMetrics? = nil
    ) {
        let states = SignInStates(sealer: sealer, time: time)
        let address = publicAddress.text
        let redirectAddress = (address.hasSuffix("/") ? String(address.dropLast()) : address) + Self.callbackPath
        all = providers.map { provider in
            OIDCSignIn(
                provider,
                redirectAddress: redirectAddress,
                states: states,
                http: http,
                time: time,
                metrics: metrics
            )
        }
        (self.states, self.time) = (states, time)
    }

    /// The provider with this id.
    package subscript(id: String) -> OIDCSignIn? { all.first { $0.provider.id == id } }

    /// Takes other settings for the providers of these ids; issuers stay as they were.
    package func replace(_ providers: [OIDCProvider]) {
        for provider in providers {
            guard let signIn = self[provider.id], signIn.provider.issuer == provider.issuer else { continue }
            signIn.settings.replace(with: provider)
        }
    }

    /// Ends the sign-in that a callback is of.
    ///
    /// `cookie` is what the login cookie holds that is named by the tab of the callback's state. It
    /// is used up even where this throws, and is to be removed. No provider is asked before the
    /// cookie is known to be the callback's, nor where the network has used up its share. Where it
    /// `isLink`, the cookie must be of a sign-in that links an identity, and of no other.
    package func finish(
        _ callback: CallbackParameters,
        cookie: String?,
        isLink: Bool = false
    ) async throws(OIDCRefusal) -> SignedIn {
        let begun = try states.taken(cookie, for: callback.state, isLink: isLink)
        guard let signIn = self[begun.provider] else {
            throw OIDCRefusal(.providerUnknown, "The sign-in was begun with a provider that is no longer set.")
        }
        guard callbacks.take(RequestOrigin.current?.shareKey ?? "", now: time.now()) else {
            throw OIDCRefusal(
                .tooManyCallbacks,
                "More than \(callbacks.maximumCount) sign-ins came back from one network within a minute."
            )
        }
        return try await signIn.finish(begun, callback)
    }

    /// Keeps what providers say of themselves, until the task is cancelled.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for signIn in all { group.addTask { await signIn.discovery.run() } }
        }
    }
}
