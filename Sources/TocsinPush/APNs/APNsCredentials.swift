package import TocsinCore

/// What is needed to push to Apple's devices with a key (Apple: Establishing a
/// token-based connection to APNs).
package struct APNsCredentials: Sendable {
    /// Ten characters: the `iss` of provider tokens.
    package var teamID: String
    /// Ten characters: the `kid` of provider tokens.
    package var keyID: String
    /// The `.p8` key: ES256.
    package var signer: any Signer
    /// The app of devices that name none; nil: such devices cannot be reached.
    package var bundleID: String?
    /// The side of devices that name none.
    package var defaultEnvironment: PushEnvironment
    /// The sides the key is for: Apple ties newer keys to one.
    package var environments: Set<PushEnvironment>
    /// In place of Apple's hosts, for tests and proxies: `https://host:port` for both sides.
    package var origin: String?
    /// In place of Apple's development host alone.
    package var sandboxOrigin: String?
    /// Whether the app has Apple's leave for alerts that sound through silence (an entitlement).
    package var mayBeCritical = false
    /// Tells keys of one id apart, so that another key never goes over a connection of the first.
    package var edition = ""

    /// Credentials of one app; `environments` says which of Apple's sides the key is for.
    package init(
        teamID: String,
        keyID: String,
        signer: any Signer,
        bundleID: String?,
        defaultEnvironment: PushEnvironment = .sandbox,
        environments: Set<PushEnvironment> = Set(PushEnvironment.allCases),
        origin: String? = nil,
        sandboxOrigin: String? = nil
    ) {
        self.teamID = teamID
        self.keyID = keyID
        self.signer = signer
        self.bundleID = bundleID
        self.defaultEnvironment = defaultEnvironment
        self.environments = environments
        self.origin = origin
        self.sandboxOrigin = sandboxOrigin
    }

    func origin(of environment: PushEnvironment) -> String {
        if environment == .sandbox, let sandboxOrigin { return sandboxOrigin }
        if let origin { return origin }
        return switch environment {
        case .production: "https://api.push.apple.com:443"
        case .sandbox: "https://api.sandbox.push.apple.com:443"
        }
    }
}
