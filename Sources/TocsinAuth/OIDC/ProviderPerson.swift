import JSON
package import TocsinCore

/// Who signed in, as a provider's ID token says.
package struct ProviderPerson: Sendable, Hashable {
    /// The provider's id in the settings.
    package let provider: String
    /// The provider's issuer.
    package let issuer: String
    /// The provider's own name of the person (`sub`), the same for ever.
    package let subject: String
    /// The user's id here: the bare subject for the user pool, else `oidc:<provider>:<subject>`.
    package let userID: UserID
    /// What people call them; may change, and proves nothing.
    package let username: String
    /// What is shown only; proves nothing.
    package let email: String?
    /// Groups, each once, in the provider's order; at most 200.
    package let groups: [String]
    /// Whether a group makes them an admin.
    package let isAdmin: Bool
    /// When they proved to be there, where the provider says so.
    package let authenticatedAt: Timestamp?
    /// The provider's session (`sid`), for its logout.
    package let providerSession: String?
    /// The claims that rules may name.
    package let claims: [String: [String]]

    init(_ claims: JSONObject, provider: OIDCProvider) throws(OIDCRefusal) {
        (self.provider, issuer) = (provider.id, provider.issuer)
        (subject, userID, username) = try Self.names(claims, provider)
        for required in provider.requiredClaims where !required.holds(in: claims) {
            throw OIDCRefusal(.claimRequired, "The ID token lacks what the settings require: \(required).")
        }
        let groups = try GroupsClaim(provider.groupsClaim).groups(in: claims)
        guard provider.allowedGroups.isEmpty || Self.isAny(of: groups, among: provider.allowedGroups) else {
            throw OIDCRefusal(.groupsNotAllowed, "The person is in none of the groups that may sign in.")
        }
        self.groups = groups
        isAdmin = Self.isAny(of: groups, among: provider.adminGroups)
        email = claims["email"]?.stringValue.flatMap { OwnerClaims.isValid($0) ? $0 : nil }
        authenticatedAt = Self.authenticationTime(in: claims)
        providerSession = claims["sid"]?.stringValue.flatMap { OwnerClaims.isValid($0) ? $0 : nil }
        self.claims = OwnerClaims.named(in: claims)
    }

    /// Names of groups compare by bytes: two spellings of a letter are two groups.
    private static func isAny(of groups: [String], among names: Set<String>) -> Bool {
        groups.contains { group in names.contains { $0.hasBytes(of: group) } }
    }

    /// nil also for what is no time: an elevation has judged it, and nothing else rests on it.
    private static func authenticationTime(in claims: JSONObject) -> Timestamp? {
        do throws(TokenProblem) {
            return try ClaimRules.moment("auth_time", in: claims)
        } catch {
            return nil
        }
    }

    private static func names(
        _ claims: JSONObject,
        _ provider: OIDCProvider
    ) throws(OIDCRefusal) -> (subject: String, userID: UserID, username: String) {
        let (bare, username): (UserID, String)
        do throws(TokenProblem) {
            (bare, username) = try OwnerClaims.read(claims, usernameClaims: provider.usernameClaims)
        } catch {
            throw OIDCRefusal(
                .personInvalid,
                "The ID token's sub or user name is absent or cannot be taken: 1 to 256 printable characters, no :: "
                    + "and no colon at the ends."
            )
        }
        let subject = bare.text
        guard let id = provider.userID(ofSubject: subject) else {
            throw OIDCRefusal(.personInvalid, "The ID token's sub is too long, or is one of another provider's people.")
        }
        // A person without a user name would own nothing.
        return (subject, id, username.isEmpty && !provider.isUserPool ? subject : username)
    }
}

extension OIDCProvider {
    /// Local ids begin so; no subject of the user pool may.
    private static let idPrefix = "oidc:"

    /// The id that the person of this subject has as a user of their own; nil where nobody can
    /// have it.
    package func userID(ofSubject subject: String) -> UserID? {
        if isUserPool {
            return OwnerClaims.isValid(subject) && !subject.hasPrefix(Self.idPrefix) ? UserID(subject) : nil
        }
        let id = Self.idPrefix + self.id + ":" + subject
        return OwnerClaims.isValid(subject) && OwnerClaims.isValid(id) ? UserID(id) : nil
    }
}
