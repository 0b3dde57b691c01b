import TocsinCore

/// Begins sign-ins, and takes each back once.
///
/// Nothing is kept of a sign-in under way: the browser holds it, sealed under the server's key, so
/// that it may come back to another node. Each node remembers what came back to it. A cookie that
/// is played again to another node meets the provider, where its code was redeemed already.
struct SignInStates: Sendable {
    static let lifetimeSeconds = 600.0
    private static let maximumCookieBytes = 4096

    private let sealer: any Sealer
    private let time: any TimeSource
    private let used = UsedStates(lifetimeSeconds: lifetimeSeconds)

    init(sealer: any Sealer, time: any TimeSource) {
        (self.sealer, self.time) = (sealer, time)
    }

    func begun(
        provider: String,
        returnTo path: String?,
        elevating: UserID?,
        linking: TokenID?
    ) -> SignInState {
        SignInState(provider: provider, returnTo: path, elevating: elevating, linking: linking, at: time.now())
    }

    /// What the login cookie holds.
    func cookie(of state: SignInState) -> String {
        sealer.seal(state.bytes, scope: Self.scope(isLink: state.linking != nil))
    }

    /// One cannot be shown as the other, nor to a program that knows no links.
    private static func scope(isLink: Bool) -> String { isLink ? "sign-in link" : "sign-in" }

    /// The sign-in of this cookie, which is used up by it; throws unless it is this callback's.
    func taken(_ cookie: String?, for state: String, isLink: Bool) throws(OIDCRefusal) -> SignInState {
        guard let cookie, cookie.utf8.count <= Self.maximumCookieBytes,
            let bytes = sealer.open(cookie, scope: Self.scope(isLink: isLink)), let begun = SignInState(bytes: bytes),
            (begun.linking != nil) == isLink
        else {
            throw OIDCRefusal(
                .stateMissing,
                "The callback came without the login cookie of its sign-in. Begin the sign-in again, in one browser."
            )
        }
        guard Digest.isEqual(Array(begun.state.utf8), Array(state.utf8)) else {
            throw OIDCRefusal(.stateMismatch, "The callback's state is of another sign-in than the browser's cookie.")
        }
        let now = time.now()
        guard now < begun.startedAt.adding(seconds: Self.lifetimeSeconds) else {
            throw OIDCRefusal(.stateExpired, "The sign-in was begun over ten minutes ago. Begin it again.")
        }
        guard used.use(Digest.sha256(Array(begun.state.utf8)), now: now) else {
            throw OIDCRefusal(.stateUsed, "The callback of this sign-in came before. Begin the sign-in again.")
        }
        return begun
    }
}
