/// What the settings say of one sign-in provider (OpenID Connect).
package struct OIDCProvider: Sendable {
    /// Who may have an account by signing in.
    package enum Signup: String, Sendable, CaseIterable {
        /// Everybody whom the provider and the rules below let in.
        case open
        /// Only who has one.
        case invited
    }

    /// Names the provider in addresses and in its users' ids; never changed once people signed in.
    package var id = "default"
    /// Compared byte by byte with what the provider says of itself.
    package var issuer: String
    /// The name under which the provider knows this server.
    package var clientID: String
    /// nil for a public client, which proves itself by its verifier alone.
    package var secret: ClientSecret?
    /// What is asked for; `openid` must be there.
    package var scopes = ["openid", "profile", "email"]
    /// Sent as `audience` where the provider needs it.
    package var audience: String?
    /// What the button says; nil: the issuer's host.
    package var label: String?
    /// Where groups stand; nil: nobody gets groups from this provider.
    package var groupsClaim: ClaimPath?
    /// Whoever is in one of these is an admin.
    package var adminGroups: Set<String> = []
    /// Only whoever is in one of these comes in; empty: everybody.
    package var allowedGroups: Set<String> = []
    /// What an ID token must say besides.
    package var requiredClaims: [RequiredClaim] = []
    /// Who may have an account.
    package var signup = Signup.open
    /// Whether the issuer stands for the user pool, whose people are known by their bare subject.
    package var isUserPool = false
    /// The first of these that is there names the user.
    package var usernameClaims = OwnerClaims.usernameClaims

    /// A provider with defaults; `problems` says what is wrong with it.
    package init(issuer: String, clientID: String) {
        (self.issuer, self.clientID) = (issuer, clientID)
    }

    /// What the button says.
    package var shownLabel: String {
        if let label { return label }
        let host = EndpointAddress(issuer)?.origin.split(separator: "/").last ?? "OpenID Connect"
        return "Sign in with \(host)"
    }

    /// What is wrong with these settings, a sentence each; empty when nothing is.
    package var problems: [String] {
        var problems: [String] = []
        func check(_ isGood: Bool, _ sentence: String) {
            if !isGood { problems.append(sentence) }
        }
        check(Self.isID(id), "The id \"\(id)\" of a provider has other characters than a-z, 0-9 and -, or over 32.")
        let address = EndpointAddress(issuer)
        check(
            address.map { !$0.hasQuery } ?? false,
            "The issuer \"\(issuer)\" is no https address without query and fragment (http only on loopback)."
        )
        check(!clientID.isEmpty, "The provider \(id) needs the client id that it gave this server.")
        check(scopes.contains("openid"), "The scopes of the provider \(id) lack openid, without which it names nobody.")
        check(scopes.allSatisfy(Self.isScope), "A scope of the provider \(id) has a space or a character beyond ASCII.")
        check(
            groupsClaim != nil || (adminGroups.isEmpty && allowedGroups.isEmpty),
            "The provider \(id) has groups for admins or guests, but no claim is named from which groups are read."
        )
        return problems
    }

    /// The value of `hd` that is required, which Google takes as a hint.
    var hostedDomain: String? {
        requiredClaims.first { $0.path.description == "hd" }?.value
    }

    private static func isID(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }

    /// RFC 6749 §3.3.
    private static func isScope(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }
}
