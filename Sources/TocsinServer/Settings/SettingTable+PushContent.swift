/// Settings of what phones show.
extension SettingTable {
    /// What an app of several may say of Apple's push.
    static let appleOfApps = apns + [criticalAlerts]

    private static let criticalAlerts = SettingDefinition.flag(
        "apns-critical-alerts",
        \.apns.mayBeCritical,
        "Whether the app has Apple's leave for critical alerts; priority 5 is time-sensitive otherwise."
    )

    static let pushContent: [SettingDefinition] = [
        .optional(
            "categories",
            \.server.categoriesPath,
            "A file with your apps' notification categories and their buttons."
        ),
        criticalAlerts,
        .text("push-placeholder-title", \.push.placeholderTitle, "The title phones show of an encrypted message."),
        .text("push-placeholder-body", \.push.placeholderBody, "The text phones show of an encrypted message."),
        .flag(
            "push-requires-sign-in",
            \.push.requiresSignIn,
            "Whether people get pushes only while a token of theirs is good (docs/pushes.md)."
        ),
    ]
}
