import TocsinAuth

/// A number that nodes have in common while they run with the same settings.
///
/// It is made of what `tocsin settings` shows: a secret counts as set or not set, so the number
/// tells nothing of it.
enum SettingsHash {
    /// What each node has of its own.
    private static let ownKeys: Set<String> = ["node", "host", "port", "data-dir", "admin-listen"]

    /// 48 bits, so that a number of JSON or Prometheus holds it whole.
    static func value(of settings: Settings) -> Int {
        let shared = SettingTable.all.filter { !ownKeys.contains($0.key) }
        var lines = shared.map { "\($0.key)=\($0.text(settings) ?? "")" }
        lines += settings.apps.map { "[[apps]] \($0.id)" }
        lines += settings.webhooks.map { "[[webhooks]] \($0.name)" }
        lines += settings.signIn.furtherOIDC.map { "[[oidc]] \($0.id)" }
        let digest = Digest.sha256(Array(lines.joined(separator: "\n").utf8))
        return digest.prefix(6).reduce(0) { $0 << 8 | Int($1) }
    }
}
