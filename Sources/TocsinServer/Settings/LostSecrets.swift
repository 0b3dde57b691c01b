/// Secrets that a settings file made of what is shown does not have, and what is wrong without
/// them.
struct LostSecrets {
    /// What the file is refused with when it stands there without the secret.
    private static let followers = [
        "apns-key-contents": ["apns-key-id", "apns-team-id"],
        "fcm-private-key": ["fcm-project-id", "fcm-client-email"],
        "vapid-private-key": ["vapid-public-key", "vapid-subject"],
        "jwt-hs256-secret": ["jwt-issuer", "jwt-audience"],
    ]

    private let followers: Set<String>
    private let lacksAdminToken: Bool

    init(_ origins: [SettingOrigin]) {
        // One that was read from a file is named by its file.
        let lost = Set(origins.filter { $0.isMasked && $0.path == nil && !$0.variable.isEmpty }.map(\.key))
        followers = Set(lost.flatMap { Self.followers[$0] ?? [] })
        lacksAdminToken = lost.contains("admin-token")
    }

    /// What is left of a setting's value; nil: nothing.
    func rest(of key: String, _ value: String) -> String? {
        if followers.contains(key) { return nil }
        guard key == "admin-listen", lacksAdminToken, case .success(.at(let all)) = SettingRules.adminListening(value)
        else { return value }
        let ofThisMachine = all.filter(\.isOfThisMachine).map(\.description)
        return ofThisMachine.isEmpty ? nil : ofThisMachine.joined(separator: ",")
    }
}
