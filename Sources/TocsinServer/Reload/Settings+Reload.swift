/// Settings as a reload makes them from those in force and those that were read.
struct ReloadedSettings {
    /// What is in force once the reload is applied.
    private(set) var settings: Settings
    /// Settings that change, by their keys.
    private(set) var changed: [String] = []
    /// Settings that differ and need a restart.
    private(set) var pending: [String] = []

    /// What only makes sense together with another setting, which needs a restart.
    private static let followers: [(leader: String, followers: [String])] = [
        ("jwt-issuer", ["jwt-audience", "jwks-url", "jwks-file", "jwt-hs256-secret"]),
        (
            "oidc-issuer",
            [
                "oidc-client-id", "oidc-client-secret", "oidc-scopes", "oidc-audience", "oidc-label",
                "oidc-groups-claim", "oidc-admin-groups", "oidc-allowed-groups", "oidc-required-claims",
                "oidc-signup",
            ]
        ),
    ]

    /// - Parameters:
    ///   - current: What is in force.
    ///   - newer: What was read.
    init(_ current: Settings, taking newer: Settings) {
        settings = current
        var kept = Set(SettingTable.all.filter { !$0.reloads }.map(\.key))
        for (leader, followers) in Self.followers where !Self.isAlike(leader, current, newer) {
            kept.formUnion(followers)
        }
        // A port speaks TLS or does not, from its first connection to its last.
        if (current.server.tlsKeyPath == nil) != (newer.server.tlsKeyPath == nil) {
            kept.formUnion(["tls-certificate", "tls-key"])
        }
        for definition in SettingTable.all where !definition.isAlike(in: current, newer) {
            if kept.contains(definition.key) {
                pending.append(definition.key)
            } else {
                definition.copy(newer, &settings)
                changed.append(definition.key)
            }
        }
        takeTables(current, newer)
    }

    /// The tables of the file, which are no settings of the table.
    private mutating func takeTables(_ current: Settings, _ newer: Settings) {
        take("apps", \.apps, newer, isAllowed: true)
        // Each has a lane of its own from the start on.
        take(
            "webhooks",
            \.webhooks,
            newer,
            isAllowed: current.webhooks.map(\.name).sorted() == newer.webhooks.map(\.name).sorted()
        )
        let (old, new) = (current.signIn.furtherOIDC, newer.signIn.furtherOIDC)
        take(
            "oidc",
            \.signIn.furtherOIDC,
            newer,
            isAllowed: old.map(\.id) == new.map(\.id) && old.map(\.issuer) == new.map(\.issuer)
        )
    }

    private mutating func take<Value: Equatable>(
        _ name: String,
        _ field: WritableKeyPath<Settings, Value>,
        _ newer: Settings,
        isAllowed: Bool
    ) {
        guard settings[keyPath: field] != newer[keyPath: field] else { return }
        guard isAllowed else { return pending.append(name) }
        settings[keyPath: field] = newer[keyPath: field]
        changed.append(name)
    }

    private static func isAlike(_ key: String, _ one: Settings, _ other: Settings) -> Bool {
        SettingTable.all.first { $0.key == key }?.isAlike(in: one, other) ?? true
    }
}
