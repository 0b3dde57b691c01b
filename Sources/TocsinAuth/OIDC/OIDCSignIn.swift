package import TocsinCore

/// Signs people in with one provider: the code flow with PKCE (OpenID Connect Core §3.1).
package struct OIDCSignIn: Sendable {
    /// What the settings say of it.
    package var provider: OIDCProvider { settings.value }
    let settings: Reloadable<OIDCProvider>
    /// What it says of itself.
    package let discovery: OIDCDiscovery
    private let redirectAddress: String
    private let states: SignInStates
    private let http: any OutgoingHTTP
    private let time: any TimeSource

    init(
        _ provider: OIDCProvider,
        redirectAddress: String,
        states: SignInStates,
        http: any OutgoingHTTP,
        time: any TimeSource,
        metrics: AuthMetrics?
    ) {
        settings = Reloadable(provider)
        (self.redirectAddress, self.states) = (redirectAddress, states)
        (self.http, self.time) = (http, time)
        discovery = OIDCDiscovery(issuer: provider.issuer, http: http, time: time, metrics: metrics)
    }

    /// Begins a sign-in, or with `user` one that proves them to be there again, or with `session`
    /// one whose person its user links.
    package func begin(
        returnTo path: String?,
        elevating user: UserID? = nil,
        linking session: TokenID? = nil
    ) async throws(OIDCRefusal) -> SignInBeginning {
        let (metadata, _) = try await discovery.current()
        let state = states.begun(provider: provider.id, returnTo: path, elevating: user, linking: session)
        let request = AuthorizationRequest(provider: provider, redirectAddress: redirectAddress, state: state)
        return SignInBeginning(
            location: request.address(at: metadata.authorizationEndpoint),
            cookie: states.cookie(of: state),
            tab: state.tab
        )
    }

    /// Ends a sign-in whose state was taken back from the browser.
    func finish(_ begun: SignInState, _ callback: CallbackParameters) async throws(OIDCRefusal) -> SignedIn {
        let (metadata, keys) = try await discovery.current()
        let code = try callback.code(of: metadata)
        let answer = try await endpoint(metadata).redeem(
            code,
            verifier: begun.verifier,
            redirectAddress: redirectAddress
        )
        guard let idToken = answer.idToken else {
            throw OIDCRefusal(.tokenAnswerRefused, "The provider \(provider.issuer) handed out no ID token.")
        }
        let circumstances = IDTokenRules.Circumstances(
            nonce: begun.nonce,
            accessToken: answer.accessToken,
            startedAt: begun.startedAt,
            isFresh: begun.isFresh
        )
        let person = try await person(of: idToken, keys, circumstances)
        guard begun.elevating == nil || begun.elevating == person.userID else {
            throw OIDCRefusal(.personOther, "Another person signed in than the one who was to prove to be there.")
        }
        return SignedIn(
            person: person,
            returnPath: begun.returnPath,
            elevated: begun.elevating,
            linking: begun.linking,
            refreshToken: answer.refreshToken,
            idToken: idToken
        )
    }

    /// Asks whether the provider still vouches for a person who signed in.
    package func renew(_ refreshToken: String, of user: UserID) async -> SignInRenewal {
        do throws(OIDCRefusal) {
            let (metadata, keys) = try await discovery.current()
            let answer = try await endpoint(metadata).renew(refreshToken)
            guard let idToken = answer.idToken else {
                return .renewed(person: nil, refreshToken: answer.refreshToken)
            }
            let circumstances = IDTokenRules.Circumstances(accessToken: answer.accessToken)
            let person = try await person(of: idToken, keys, circumstances)
            guard person.userID == user else {
                throw OIDCRefusal(.personOther, "The provider renewed the session of another person.")
            }
            return .renewed(person: person, refreshToken: answer.refreshToken)
        } catch {
            return error.endsSession ? .ended(error) : .unanswered(error)
        }
    }

    /// Where a browser ends its session with the provider; nil where it cannot, or is away.
    package func logoutAddress(idToken: String?, returnAddress: String?) async -> String? {
        do throws(OIDCRefusal) {
            let (metadata, _) = try await discovery.current()
            return LogoutAddress(provider: provider, metadata: metadata)
                .text(idToken: idToken, returnAddress: returnAddress)
        } catch {
            return nil
        }
    }

    private func endpoint(_ metadata: ProviderMetadata) -> TokenEndpoint {
        TokenEndpoint(provider: provider, metadata: metadata, http: http)
    }

    private func person(
        of idToken: String,
        _ keys: RemoteKeySet,
        _ circumstances: IDTokenRules.Circumstances
    ) async throws(OIDCRefusal) -> ProviderPerson {
        let token = try await IDToken(idToken, keys: keys)
        let rules = IDTokenRules(issuer: provider.issuer, clientID: provider.clientID)
        try rules.check(token, circumstances, now: time.now())
        return try ProviderPerson(token.claims, provider: provider)
    }
}

extension OIDCRefusal {
    /// Whether the provider no longer vouches for the person, or for what they may.
    ///
    /// A provider that is away, errs, or refuses this server ends nobody's session.
    fileprivate var endsSession: Bool {
        switch code {
        case .grantRefused, .personInvalid, .personOther, .groupsOverage, .groupsMalformed, .groupsNotAllowed,
            .claimRequired:
            true
        default: false
        }
    }
}
