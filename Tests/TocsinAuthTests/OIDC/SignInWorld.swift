import JSON
import TocsinAuth
import TocsinCore

/// Sign-ins with one fake provider.
struct SignInWorld {
    let time = ManualTime()
    let provider: FakeSignInProvider
    let signIns: OIDCSignIns

    init(_ change: (inout OIDCProvider) -> Void = { _ in }) throws {
        provider = try FakeSignInProvider(at: time)
        var settings = OIDCProvider(issuer: FakeSignInProvider.issuer, clientID: "app-1")
        settings.secret = ClientSecret("s3 cret")
        change(&settings)
        signIns = try Self.signIns([settings], provider, time)
    }

    static func signIns(
        _ settings: [OIDCProvider],
        _ http: any OutgoingHTTP,
        _ time: any TimeSource
    ) throws -> OIDCSignIns {
        guard let address = EndpointAddress("https://push.example") else { throw CancellationError() }
        return OIDCSignIns(
            settings,
            publicAddress: address,
            sealer: KeySealer(try ServerKey(secret: [UInt8](repeating: 7, count: 32))),
            http: http,
            time: time
        )
    }

    /// The one provider's.
    var signIn: OIDCSignIn { signIns.all[0] }

    /// Changes what the ID token says; null takes a claim away.
    func claim(_ changes: [String: JSONValue]) {
        provider.change { behaviour in
            for (name, value) in changes { behaviour.claims[name] = value.isNull ? Optional.none : value }
        }
    }

    /// The whole flow, as a browser goes it.
    func walk(returnTo path: String? = nil, elevating user: UserID? = nil) async throws(OIDCRefusal) -> SignedIn {
        let beginning = try await signIn.begin(returnTo: path, elevating: user)
        let callback = try CallbackParameters(provider.authorize(beginning.location))
        return try await signIns.finish(callback, cookie: beginning.cookie)
    }

    /// Why the flow is refused; nil when it is not.
    func refusal(elevating user: UserID? = nil) async -> OIDCRefusal.Code? {
        do throws(OIDCRefusal) {
            _ = try await walk(elevating: user)
            return nil
        } catch {
            return error.code
        }
    }
}
