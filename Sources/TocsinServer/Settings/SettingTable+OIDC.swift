/// Settings of a sign-in provider; a settings file may have several as tables `[[oidc]]`.
extension SettingTable {
    static let oidc: [SettingDefinition] = [
        .optional(
            "oidc-issuer",
            \.signIn.oidc.issuer,
            "The provider's issuer, byte by byte as its discovery document says it.",
            check: SettingRules.issuerProblem
        ),
        .optional("oidc-client-id", \.signIn.oidc.clientID, "The name under which the provider knows this server.")
            .reloading(),
        .secret(
            "oidc-client-secret",
            \.signIn.oidc.clientSecret,
            "The secret shared with the provider; without it the server is a public client.",
            check: { _ in nil }
        ).reloading(),
        .list("oidc-scopes", \.signIn.oidc.scopes, "What the provider is asked for, with commas; openid is needed.")
            .reloading(),
        .optional("oidc-audience", \.signIn.oidc.audience, "Sent as audience, where the provider needs it (Auth0).")
            .reloading(),
        .optional("oidc-label", \.signIn.oidc.label, "What the button says.").reloading(),
        .optional(
            "oidc-groups-claim",
            \.signIn.oidc.groupsClaim,
            "Where groups stand in an ID token: a claim's name, or a path as realm_access.roles."
        ).reloading(),
        .list("oidc-admin-groups", \.signIn.oidc.adminGroups, "Whoever is in one of these groups is an admin.")
            .reloading(),
        .list(
            "oidc-allowed-groups",
            \.signIn.oidc.allowedGroups,
            "Only whoever is in one of these groups comes in; everybody unless set."
        ).reloading(),
        .list(
            "oidc-required-claims",
            \.signIn.oidc.requiredClaims,
            "What an ID token must say besides, as hd=example.com, with commas."
        ).reloading(),
        .choice(
            "oidc-signup",
            \.signIn.oidc.signup,
            ["open", "invited"],
            "Who comes in for the first time. open: everybody whom the provider lets in; invited: who was here before or is linked."
        ).reloading(),
    ]
}
