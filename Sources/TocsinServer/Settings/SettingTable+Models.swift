import TocsinCore

extension SettingTable {
    static let models: [SettingDefinition] = [
        .choice(
            "conflict-handler",
            \.models.conflictHandlerName,
            ModelSettings.ConflictHandler.allCases.map { $0.rawValue.lowercased() },
            "What becomes of an update of another version: automerge or optimistic_concurrency."
        ),
        .flag(
            "absent-version",
            \.models.takesAbsentVersion,
            "An update without `_version` is for what is stored, not for version 0."
        ),
        .seconds("tombstone-seconds", \.models.tombstoneSeconds, 60...1e9, "Time a deleted record is kept for sync."),
        .seconds("delta-seconds", \.models.deltaSeconds, 0...1e9, "How far back sync answers with changes alone."),
        .seconds("reaper-seconds", \.models.reaperSeconds, 1...1e6, "Time between two removals of old tombstones."),
        .flag(
            "hide-deleted",
            \.models.hidesDeleted,
            "Deleted records are answered by sync alone, and elsewhere as what does not exist."
        ),
        .choice(
            "jwt-provider",
            \.signIn.provider,
            ["userpools", "oidc"],
            "Which @auth rules mean the users of the JWT issuer: userpools, those without a provider too; oidc, those that say so."
        ),
        .list(
            "jwt-username-claim",
            \.signIn.usernameClaims,
            "The claims that name its users, the first that is there; with sub at the end it stands in for the others."
        ),
    ]
}

extension ModelSettings {
    /// The handler as settings spell it.
    fileprivate var conflictHandlerName: String {
        get { conflictHandler.rawValue.lowercased() }
        set { conflictHandler = ConflictHandler(rawValue: newValue.uppercased()) ?? conflictHandler }
    }
}
