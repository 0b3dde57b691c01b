/// What a server needs to push to Apple's devices, as its settings name it.
public struct ApnsConfig: Sendable, Hashable {
    /// The team's id, 10 characters.
    public var teamID: String
    /// The key's id, 10 characters.
    public var keyID: String
    /// Where the .p8 key file is.
    public var keyPath: String
    /// The app's bundle id; there is no default.
    public var bundleID: String
    /// Whether devices that do not say are of production; else of the sandbox.
    public var isProduction: Bool

    /// A configuration of these parts.
    public init(teamID: String, keyID: String, keyPath: String, bundleID: String, isProduction: Bool = false) {
        self.teamID = teamID
        self.keyID = keyID
        self.keyPath = keyPath
        self.bundleID = bundleID
        self.isProduction = isProduction
    }

    /// Reads the variables of the server's environment; `nil` when one of the four is missing.
    public init?(environment: [String: String]) {
        guard let teamID = environment["APNS_TEAM_ID"], let keyID = environment["APNS_KEY_ID"],
            let keyPath = environment["APNS_AUTH_KEY_PATH"], let bundleID = environment["APNS_BUNDLE_ID"]
        else { return nil }
        self.init(
            teamID: teamID,
            keyID: keyID,
            keyPath: keyPath,
            bundleID: bundleID,
            isProduction: environment["APNS_PRODUCTION"] == "true"
        )
    }

    /// The variables with which `tocsin serve` is started.
    public var environment: [String: String] {
        [
            "APNS_TEAM_ID": teamID, "APNS_KEY_ID": keyID, "APNS_AUTH_KEY_PATH": keyPath,
            "APNS_BUNDLE_ID": bundleID, "APNS_PRODUCTION": String(isProduction),
        ]
    }
}

/// What a server needs to push by Firebase, as its settings name it.
public struct FcmConfig: Sendable, Hashable {
    /// Where the service account's key file is; it names the project.
    public var serviceAccountPath: String
    /// The Firebase project, where it is not the key file's.
    public var projectID: String?

    /// A configuration of these parts.
    public init(serviceAccountPath: String, projectID: String? = nil) {
        self.serviceAccountPath = serviceAccountPath
        self.projectID = projectID
    }

    /// Reads the variables of the server's environment; `nil` when there is no key file.
    public init?(environment: [String: String]) {
        guard let path = environment["GOOGLE_APPLICATION_CREDENTIALS"] else { return nil }
        self.init(serviceAccountPath: path, projectID: environment["FCM_PROJECT_ID"])
    }

    /// The variables with which `tocsin serve` is started.
    public var environment: [String: String] {
        var environment = ["GOOGLE_APPLICATION_CREDENTIALS": serviceAccountPath]
        environment["FCM_PROJECT_ID"] = projectID
        return environment
    }
}
