import TocsinAPI
import TocsinCore

/// Every setting there is, in the order in which people want to read them.
package enum SettingTable {
    /// Settings under one heading.
    package typealias Group = (title: String, definitions: [SettingDefinition])

    /// The settings by the headings of the README and of the manual page.
    package static let groups: [Group] = [
        ("Server", server), ("Sign-in", signIn), ("Apple push", apns), ("Google push", fcm), ("Outbox", push),
        ("Push to browsers, webhooks", webPush), ("Content of pushes", pushContent),
        ("Identities, versions and sync", models), ("Limits of HTTP", httpLimits),
        ("Limits of GraphQL", documentLimits), ("Limits of data", dataLimits), ("Limits of sockets", socketLimits),
    ]

    /// All of them.
    package static let all: [SettingDefinition] = groups.flatMap(\.definitions)

    /// The variable and flag that name the settings file.
    package static let fileVariable = "TOCSIN_CONFIG"
    package static let fileFlag = "config"

    /// Variables that belong to the client commands.
    static let foreignVariables: Set<String> = ["TOCSIN_URL", "TOCSIN_TOKEN", fileVariable]

    /// Variables that no longer mean anything, with what to set instead.
    static let retired: [(variable: String, advice: String)] = [
        (
            "FCM_SERVER_KEY",
            "is a key of Google's legacy API, which was shut down in 2024, and is not used. Make a service account key in "
                + "the Firebase console (Project settings, Service accounts) and name its file in "
                + "GOOGLE_APPLICATION_CREDENTIALS, or set FCM_PROJECT_ID, FCM_CLIENT_EMAIL and FCM_PRIVATE_KEY from it."
        )
    ]

    static let server: [SettingDefinition] = [
        .text("host", \.server.host, "The address to listen on; 0.0.0.0 for all of IPv4, :: for all."),
        .integer("port", \.server.port, 0...65_535, "The port to listen on; 0 takes a free one."),
        .init(
            "database",
            "Where the data is kept: sqlite:PATH or postgres://…; tocsin.db in the data directory unless set."
        ) { text, settings in
            switch DatabaseAddress.parsed(text) {
            case .success(let address):
                settings.server.database = address
                return nil
            case .failure(let problem): return problem
            }
        } text: {
            $0.server.database?.description
        }.variable("TOCSIN_DATABASE_URL").secret(),
        .text(
            "data-dir",
            \.server.dataDirectory,
            "Where the database and the server key live; made if it is not there."
        ),
        .optional("node", \.server.node, "This node's name in leases and logs; host name and process unless set."),
        .optional("schema", \.server.schemaPath, "A file with the model schema; the one that ships unless set."),
        .flag(
            "persisted-queries",
            \.server.persistsQueries,
            "Whether clients may store documents and then name them by hash (Apollo's automatic persisted queries)."
        ),
        .optional(
            "trusted-documents",
            \.server.trustedDocumentsPath,
            "A folder of .graphql files and manifests (Apollo's, Relay's), or one such file."
        ),
        .choice(
            "trusted-mode",
            \.server.trustedMode,
            RequestDocuments.TrustMode.allCases.map(\.rawValue),
            "What these are for: off; allow, they may be named by hash or id; only, nothing else is run."
        ),
        .optional("routes", \.server.routesPath, "A file with REST routes of your own, beside those that ship."),
        .flag("debug-routes", \.server.servesDebugRoutes, "Whether routes for trying things out are served too."),
        .flag("migrate", \.server.migrates, "Whether serve applies migrations; --no-migrate for no."),
        .optional("tls-certificate", \.server.tlsCertificatePath, "PEM file of the certificate chain, to speak TLS."),
        .optional("tls-key", \.server.tlsKeyPath, "PEM file of the certificate's private key."),
        .secret(
            "server-key",
            \.server.serverKey,
            "The server's secret, 32 random bytes or more in base 64; the file server.key unless set. Nodes share it.",
            check: SettingRules.serverKeyProblem
        ),
        .choice(
            "log-level",
            \.server.logLevel,
            ["trace", "debug", "info", "notice", "warning", "error", "critical"],
            "How much is logged: trace, debug, info, notice, warning, error or critical."
        ),
        .list(
            "allowed-origins",
            \.server.allowedOrigins,
            "Origins of web pages that may use the server, with commas.",
            check: SettingRules.originProblem
        ),
        .seconds("stop-seconds", \.server.stopSeconds, 0...600, "How long running work may take after SIGTERM."),
    ]

    static let signIn: [SettingDefinition] = [
        .optional("jwt-issuer", \.signIn.issuer, "The iss that tokens must have.", check: SettingRules.issuerProblem),
        .list("jwt-audience", \.signIn.audiences, "The aud that tokens must have; several with commas, any counts."),
        .optional("jwks-url", \.signIn.jwksURL, "The https address of the key set.", check: SettingRules.httpsProblem),
        .optional("jwks-file", \.signIn.jwksPath, "A file with the key set."),
        .secret(
            "jwt-hs256-secret",
            \.signIn.hs256Secret,
            "In place of a key set: a shared secret of 32 bytes or more.",
            check: SettingRules.hmacProblem
        ),
    ]

    static let apns: [SettingDefinition] = [
        .optional("apns-key-id", \.apns.keyID, "The key's id, 10 characters.", check: SettingRules.appleIDProblem)
            .alias("APNS_AUTH_KEY_ID"),
        .optional("apns-team-id", \.apns.teamID, "The team's id, 10 characters.", check: SettingRules.appleIDProblem),
        .secret(
            "apns-key-contents",
            \.apns.privateKey,
            "The .p8 key in PEM.",
            fileVariables: ["APNS_AUTH_KEY_PATH", "APNS_KEY_FILE"],
            check: SettingRules.apnsKeyProblem
        ),
        .optional("apns-bundle-id", \.apns.bundleID, "The app's bundle id.").alias("APNS_TOPIC"),
        .flag("apns-production", \.apns.isProduction, "Whether devices that do not say are in production.")
            .alias("APNS_USE_SANDBOX", instead: "APNS_PRODUCTION, which means the opposite", isInverse: true),
        .optional("apns-endpoint", \.apns.endpoint, "In place of Apple's address.", check: SettingRules.addressProblem),
    ]

    static let fcm: [SettingDefinition] = [
        .optional("fcm-project-id", \.fcm.projectID, "The Firebase project's id."),
        .optional("fcm-client-email", \.fcm.clientEmail, "The service account's address."),
        .secret(
            "fcm-private-key",
            \.fcm.privateKey,
            "The service account's key in PEM; literal \\n is taken for line breaks.",
            check: SettingRules.fcmKeyProblem
        ),
        .optional("fcm-credentials", \.fcm.credentialsPath, "The service account's key file, in place of these three.")
            .variable("GOOGLE_APPLICATION_CREDENTIALS").alias("FCM_SERVICE_ACCOUNT_FILE"),
        .optional("fcm-endpoint", \.fcm.endpoint, "In place of Google's address.", check: SettingRules.addressProblem),
        .optional(
            "fcm-token-endpoint",
            \.fcm.tokenEndpoint,
            "In place of the key file's token_uri.",
            check: SettingRules.addressProblem
        ),
    ]

    static let webPush: [SettingDefinition] = [
        .secret(
            "vapid-private-key",
            \.webPush.privateKey,
            "The key browsers know this server by: 43 characters of base64url, or PEM; tocsin vapid create makes a pair.",
            check: SettingRules.vapidKeyProblem
        ),
        .optional("vapid-public-key", \.webPush.publicKey, "Its public half, to be checked; not needed."),
        .optional(
            "vapid-subject",
            \.webPush.subject,
            "Whom push services turn to: mailto:YOU@HOST or https://HOST.",
            check: SettingRules.subjectProblem
        ),
        .list("webpush-hosts", \.webPush.hosts, "Hosts of the only push services to use, with commas; any unless set."),
        .flag(
            "webpush-allow-private-addresses",
            \.webPush.allowsPrivateAddresses,
            "Whether push services may be at loopback and private addresses, for tests."
        ),
        .flag(
            "webhooks-allow-loopback",
            \.webhooksAllowLoopback,
            "Whether [[webhooks]] of the settings file may be at http addresses of this machine (docs/webhooks.md)."
        ),
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
            "Pauses before each retry, in place of the built-in schedule."
        ),
        .seconds(
            "push-lease-seconds",
            \.push.leaseSeconds,
            1...3600,
            "How long a node holds a delivery without renewing."
        ),
        .seconds(
            "push-request-timeout-seconds",
            \.push.requestTimeoutSeconds,
            0.1...600,
            "When a push without an answer is given up."
        ),
        .integer("push-in-flight", \.push.inFlight, 1...100_000, "Pushes under way at once on a node."),
        .integer("push-fcm-per-minute", \.push.fcmPerMinute, 0...100_000_000, "A Firebase project's quota; 0: none."),
        .seconds(
            "push-lifetime-seconds",
            \.push.lifetimeSeconds,
            1...2_419_200,
            "When an undelivered push is given up."
        ),
        .integer("push-attempts", \.push.maximumAttempts, 1...1000, "Attempts of one delivery."),
        .integer("push-connections", \.push.connections, 1...100, "HTTP/2 connections to one provider."),
        .integer(
            "push-stale-days",
            \.push.staleDays,
            0...3650,
            "Days without a word of a device after which its pushes are skipped; 0: never."
        ),
    ]
}

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
