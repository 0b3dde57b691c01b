/// How the groups that a sign-in provider's tokens name are taken.
package struct ClaimedGroups: Sendable, Hashable {
    /// What grants put before the name of a claimed group, so that it is no local one.
    package static let prefix = "oidc:"

    /// The claim that names them.
    package var claim = AccessRule.groupClaim
    /// Whether a claimed group is the local group of the same name.
    package var areMerged = false
    /// How long they count for pushes after a token last named them.
    package var trustSeconds = 7.0 * 86_400

    /// The documented defaults.
    package init() {}

    /// What grants call the groups among these claims.
    package func subjects(in claims: [String: [String]]) -> [String] {
        let names = claims[claim] ?? []
        return areMerged ? names : names.map { Self.prefix + $0 }
    }
}
