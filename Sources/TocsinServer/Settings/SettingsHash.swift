import TocsinAuth
import TocsinCore

/// A number that nodes have in common while they run with the same settings.
///
/// It is made of what `tocsin settings` shows: a secret counts as set or not set, so the number
/// tells nothing of it.
enum SettingsHash {
    /// What each node has of its own.
    private static let ownKeys: Set<String> = ["node", "host", "port", "data-dir", "admin-listen"]

    /// 48 bits, so that a number of JSON or Prometheus holds it whole.
    static func value(of settings: Settings) -> Int {
        var lines = texts(settings)
        lines += settings.webhooks.map { webhook in
            let types = webhook.types.map(\.rawValue).sorted()
            let flags = [webhook.includesTokens, webhook.includesTexts, webhook.includesActions]
            let sets = [types, webhook.scheduleUsers.sorted(), webhook.topics.sorted()]
            return "[[webhooks]] \(webhook.name) \(webhook.url) \(sets) \(flags)"
        }
        // What tables have is what the settings of the same names would be.
        for provider in settings.signIn.furtherOIDC {
            var own = settings
            own.signIn.oidc = provider
            lines += ["[[oidc]] \(provider.id)"] + texts(own)
        }
        for app in settings.apps {
            lines.append("[[apps]] \(app.id) \(app.isDefault)")
            var own = settings
            own.fcm = app.fcm ?? Settings.FCM()
            lines += texts(own)
            for key in app.apns {
                own.apns = key.settings
                lines += ["\(key.environments.map(\.rawValue).sorted())"] + texts(own)
            }
        }
        let digest = Digest.sha256(Array(lines.joined(separator: "\n").utf8))
        return digest.prefix(6).reduce(0) { $0 << 8 | Int($1) }
    }

    /// All but each node's own, as they are shown.
    private static func texts(_ settings: Settings) -> [String] {
        SettingTable.all.filter { !ownKeys.contains($0.key) }.map { "\($0.key)=\($0.text(settings) ?? "")" }
    }
}
