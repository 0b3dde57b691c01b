/// Settings of pushes: whom they go through, when they are tried again, and what phones show.
extension SettingTable {
    static let apns: [SettingDefinition] = [
        .optional("apns-key-id", \.apns.keyID, "The key's id, 10 characters.", check: SettingRules.appleIDProblem)
            .reloading()
            .alias("APNS_AUTH_KEY_ID"),
        .optional("apns-team-id", \.apns.teamID, "The team's id, 10 characters.", check: SettingRules.appleIDProblem)
            .reloading(),
        .secret(
            "apns-key-contents",
            \.apns.privateKey,
            "The .p8 key in PEM.",
            fileVariables: ["APNS_AUTH_KEY_PATH", "APNS_KEY_FILE"],
            check: SettingRules.apnsKeyProblem
        ).reloading(),
        .optional(
            "apns-bundle-id",
            \.apns.bundleID,
            "The app's bundle id. It has no default on purpose: a wrong one makes Apple refuse every push."
        ).reloading().alias("APNS_TOPIC"),
        .flag(
            "apns-production",
            \.apns.isProduction,
            "The environment of devices that name none: true for production, false for sandbox."
        ).reloading()
            .alias("APNS_USE_SANDBOX", instead: "APNS_PRODUCTION, which means the opposite", isInverse: true),
        .optional(
            "apns-endpoint",
            \.apns.endpoint,
            "An address to use in place of Apple's.",
            check: SettingRules.addressProblem
        ).reloading(),
    ]

    static let fcm: [SettingDefinition] = [
        .optional("fcm-project-id", \.fcm.projectID, "The Firebase project's id.").reloading(),
        .optional("fcm-client-email", \.fcm.clientEmail, "The service account's e-mail address.").reloading(),
        .secret(
            "fcm-private-key",
            \.fcm.privateKey,
            "The service account's key in PEM; literal \\n is taken for line breaks.",
            check: SettingRules.fcmKeyProblem
        ).reloading(),
        .optional(
            "fcm-credentials",
            \.fcm.credentialsPath,
            "The service account's key file, in place of its project, address and key."
        ).reloading()
            .variable("GOOGLE_APPLICATION_CREDENTIALS").reading(into: \.fcm.privateKeyID).alias(
                "FCM_SERVICE_ACCOUNT_FILE"
            ),
        .optional(
            "fcm-endpoint",
            \.fcm.endpoint,
            "An address to use in place of Google's.",
            check: SettingRules.addressProblem
        ).reloading(),
        .optional(
            "fcm-token-endpoint",
            \.fcm.tokenEndpoint,
            "An address to use in place of the key file's token_uri.",
            check: SettingRules.addressProblem
        ).reloading(),
    ]

    static let webPush: [SettingDefinition] = [
        .secret(
            "vapid-private-key",
            \.webPush.privateKey,
            "The key browsers know this server by: 43 characters of base64url, or PEM; tocsin vapid create makes a pair.",
            check: SettingRules.vapidKeyProblem
        ).reloading(),
        .optional(
            "vapid-public-key",
            \.webPush.publicKey,
            "The public half of that key, which is checked if it is given."
        ).reloading(),
        .optional(
            "vapid-subject",
            \.webPush.subject,
            "Whom push services may contact: mailto:YOU@HOST or https://HOST.",
            check: SettingRules.subjectProblem
        ).reloading(),
        .list("webpush-hosts", \.webPush.hosts, "Hosts of the push services to use, with commas; all unless set.")
            .reloading(),
        .flag(
            "webpush-allow-private-addresses",
            \.webPush.allowsPrivateAddresses,
            "Whether push services may have loopback and private addresses, for tests."
        ).reloading(),
        .flag(
            "webhooks-allow-loopback",
            \.webhooksAllowLoopback,
            "Whether webhooks of the settings file may have http addresses of this machine (docs/webhooks.md)."
        ).reloading(),
    ]

    static let push: [SettingDefinition] = [
        .optional(
            "push-ca-file",
            \.push.caPath,
            "PEM file of authorities trusted for outgoing calls besides the system's."
        ),
        .pauses(
            "push-retry-seconds",
            \.push.retrySeconds,
            "Pauses before each retry, with commas, in place of the built-in schedule."
        ),
        .seconds(
            "push-lease-seconds",
            \.push.leaseSeconds,
            1...3600,
            "How long a node holds a delivery before another may take it over."
        ),
        .seconds(
            "push-request-timeout-seconds",
            \.push.requestTimeoutSeconds,
            0.1...600,
            "How long a push may wait for the provider's answer."
        ),
        .integer("push-in-flight", \.push.inFlight, 1...100_000, "Pushes under way at once on a node."),
        .integer(
            "push-fcm-per-minute",
            \.push.fcmPerMinute,
            0...100_000_000,
            "Pushes that a Firebase project may get in a minute; 0 for no limit."
        ).reloading(),
        .seconds(
            "push-lifetime-seconds",
            \.push.lifetimeSeconds,
            1...2_419_200,
            "How long a push is tried before it is given up."
        ),
        .integer("push-attempts", \.push.maximumAttempts, 1...1000, "Attempts of one delivery."),
        .integer("push-connections", \.push.connections, 1...100, "HTTP/2 connections to one provider."),
        .integer(
            "push-stale-days",
            \.push.staleDays,
            0...3650,
            "Pushes to a device that was not heard of for so many days are skipped; 0 for never."
        ),
    ]

    /// What an app of several may say of Apple's push.
    static let appleOfApps = apns + [criticalAlerts]

    private static let criticalAlerts = SettingDefinition.flag(
        "apns-critical-alerts",
        \.apns.mayBeCritical,
        "Whether Apple lets the app send critical alerts; otherwise priority 5 is time-sensitive."
    ).reloading()

    static let pushContent: [SettingDefinition] = [
        .optional(
            "categories",
            \.server.categoriesPath,
            "A file with your apps' notification categories and their buttons."
        ).reloading(),
        criticalAlerts,
        .text("push-placeholder-title", \.push.placeholderTitle, "The title phones show of an encrypted message.")
            .reloading(),
        .text("push-placeholder-body", \.push.placeholderBody, "The text phones show of an encrypted message.")
            .reloading(),
        .flag(
            "push-requires-sign-in",
            \.push.requiresSignIn,
            "Whether people get pushes only while they hold a valid token (docs/pushes.md)."
        ),
        .flag(
            "push-bind-devices",
            \.push.bindsDevices,
            "Whether a device gets pushes only while the token is good that registered it (docs/pushes.md)."
        ),
    ]
}
