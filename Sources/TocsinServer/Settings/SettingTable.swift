import TocsinAPI
import TocsinCore
import TocsinHTTP

/// Every setting there is, in the order in which people want to read them.
package enum SettingTable {
    /// Settings under one heading.
    package typealias Group = (title: String, definitions: [SettingDefinition])

    /// The settings by the headings of docs/settings.md and of the manual page.
    package static let groups: [Group] = [
        ("Server", server), ("Admin listener, drain, base path", admin), ("Sign-in", signIn),
        ("Sign-in with OpenID Connect", oidc), ("Apple push", apns),
        ("Google push", fcm), ("Outbox", push),
        ("Push to browsers, webhooks", webPush), ("Content of pushes", pushContent),
        ("Schedules", schedules), ("Identities, versions and sync", models), ("Database and retention", database),
        ("Limits of HTTP", httpLimits), ("Limits of receivers", receiverLimits),
        ("Limits of GraphQL", documentLimits), ("Limits of data", dataLimits),
        ("Limits of sockets", socketLimits),
    ]

    /// All of them.
    package static let all: [SettingDefinition] = groups.flatMap(\.definitions)

    /// The variable that names the settings file.
    package static let fileVariable = "TOCSIN_CONFIG"
    /// The flag that names it.
    package static let fileFlag = "config"

    /// Variables that belong to the client commands.
    static let foreignVariables: Set<String> = ["TOCSIN_URL", "TOCSIN_TOKEN", "TOCSIN_SITE", fileVariable]

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
        .text(
            "host",
            \.server.host,
            "The address to listen on; 0.0.0.0 for all of IPv4, :: for all, unix:PATH for a socket of a proxy's.",
            check: SettingRules.hostProblem
        ),
        .integer("port", \.server.port, 0...65_535, "The port to listen on; 0 takes a free one."),
        .init(
            "database",
            "Where the data is kept: sqlite:PATH or postgres://…; tocsin.db in the data directory unless set.",
            copy: SettingDefinition.copying(\.server.database)
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
        .optional("node", \.server.node, "This node's name in leases and logs; host name and process id unless set."),
        .optional(
            "public-name",
            \.server.publicName,
            "The host name that clients know the server by, such as push.example.com; it stands in what wallets sign.",
            check: SettingRules.publicNameProblem
        ),
        .optional(
            "public-url",
            \.server.publicURL,
            "The address by which browsers find the server, such as https://push.example.com; without it they sign in on this machine alone.",
            check: SettingRules.publicURLProblem
        ),
        .secret(
            "heartbeat-url",
            \.server.heartbeatURL,
            "An address that is fetched each minute while the database takes writes, timers are on time and no provider is paused, such as a ping address of a monitor elsewhere.",
            check: SettingRules.heartbeatURLProblem
        ),
        .optional("schema", \.server.schemaPath, "A file with the model schema; the one that ships unless set."),
        .flag(
            "persisted-queries",
            \.server.persistsQueries,
            "Whether clients may store documents and then name them by hash (Apollo's automatic persisted queries)."
        ),
        .optional(
            "trusted-documents",
            \.server.trustedDocumentsPath,
            "Documents known before the first request: a folder of .graphql files and manifests (Apollo's, Relay's), or one such file."
        ).reloading(),
        .choice(
            "trusted-mode",
            \.server.trustedMode,
            RequestDocuments.TrustMode.allCases.map(\.rawValue),
            "What trusted documents do. off: ignored; allow: clients may refer to them by hash or id; only: nothing else runs."
        ).reloading(),
        .flag(
            "sharing",
            \.server.sharesTopics,
            "Whether owners may share topics; when it is off, grants stay stored and count for nothing."
        ),
        .optional("routes", \.server.routesPath, "A file with REST routes of your own, beside those that ship.")
            .reloading(),
        .optional(
            "receivers",
            \.server.receiversPath,
            "A file with receivers of your own, which turn what senders post into events, beside those that ship."
        ).reloading(),
        .receiverShapes,
        .flag("debug-routes", \.server.servesDebugRoutes, "Whether routes for trying things out are served.")
            .reloading(),
        .optional(
            "sns-endpoint",
            \.server.snsEndpoint,
            "An address to use in place of Amazon's where subscriptions of SNS are confirmed, for tests.",
            check: SettingRules.addressProblem
        ),
        .flag("migrate", \.server.migrates, "Whether serve applies migrations; --no-migrate for no."),
        .optional("tls-certificate", \.server.tlsCertificatePath, "PEM file of the certificate chain, to speak TLS.")
            .reloading(),
        .optional("tls-key", \.server.tlsKeyPath, "PEM file of the certificate's private key.").reloading(),
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
        ).reloading(),
        .choice(
            "log-format",
            \.server.logFormat,
            ["auto"] + LogFormat.allCases.map(\.rawValue),
            "The form of the log's lines (docs/logs.md). auto: text on a terminal, json elsewhere; otel: JSON by OpenTelemetry's names."
        ),
        .init(
            "log-requests",
            "Which requests have a line in the log: all, slow:250ms, sample:0.01 or errors, which are always written.",
            copy: SettingDefinition.copying(\.server.logRequests)
        ) { text, settings in
            guard let policy = RequestLogPolicy(text.lowercased()) else {
                return
                    "write all, errors, slow: with a time such as slow:250ms, or sample: with a part such as sample:0.01"
            }
            settings.server.logRequests = policy
            return nil
        } text: {
            $0.server.logRequests.description
        }.reloading(),
        .flag(
            "log-deliveries",
            \.server.logsDeliveries,
            "Whether each delivery has a line in the log, at level debug, with a keyed hash of the token."
        ),
        .flag(
            "metrics",
            \.server.measures,
            "Whether figures are counted and served at /metrics; false is there to measure what that costs."
        ),
        .metricsTopics,
        .list(
            "allowed-origins",
            \.server.allowedOrigins,
            "Origins of web pages that may use the server, with commas.",
            check: SettingRules.originProblem
        ).reloading(),
        .seconds("stop-seconds", \.server.stopSeconds, 0...600, "How long work under way may take after SIGTERM."),
    ]

    static let signIn: [SettingDefinition] = [
        .flag("password-sign-in", \.signIn.takesPasswords, "Whether local users sign in by their password."),
        .duration(
            "session-idle",
            \.signIn.sessionIdleSeconds,
            60...366 * 86_400,
            "How long a session lasts that nobody uses: 7d for a week."
        ),
        .duration(
            "session-lifetime",
            \.signIn.sessionLifetimeSeconds,
            60...366 * 86_400,
            "How long a session lasts at most, used or not."
        ),
        .optional(
            "jwt-issuer",
            \.signIn.issuer,
            "The issuer (iss) that tokens must name.",
            check: SettingRules.issuerProblem
        ),
        .list(
            "jwt-audience",
            \.signIn.audiences,
            "The audience (aud) that tokens must name; of several, with commas, any one."
        ).reloading(),
        .optional("jwks-url", \.signIn.jwksURL, "The https address of the key set.", check: SettingRules.httpsProblem)
            .reloading(),
        .optional("jwks-file", \.signIn.jwksPath, "A file with the key set, in place of its address.").reloading()
            .reading(into: \.signIn.jwks),
        .secret(
            "jwt-hs256-secret",
            \.signIn.hs256Secret,
            "A shared secret of 32 bytes or more, in place of a key set.",
            check: SettingRules.hmacProblem
        ).reloading(),
        .text("groups-claim", \.signIn.claimedGroups.claim, "The claim that names a user's groups for grants."),
        .flag(
            "groups-merge",
            \.signIn.claimedGroups.areMerged,
            "Whether a group that a token names is the local group of that name; else grants write it oidc:NAME."
        ),
        .seconds(
            "groups-trust",
            \.signIn.claimedGroups.trustSeconds,
            60...3.2e7,
            "How long the groups of a token count for pushes after it was last seen."
        ),
        .choice(
            "registration-proof",
            \.signIn.registrationProof,
            RegistrationProofs.Mode.allCases.map(\.rawValue),
            "Proofs of who owns a device (docs/signed-registration.md). off: none are taken; accept: taken where given; require: no device without one."
        ),
    ]
}

extension SettingTable {
    static let models: [SettingDefinition] = [
        .choice(
            "conflict-handler",
            \.models.conflictHandlerName,
            ModelSettings.ConflictHandler.allCases.map { $0.rawValue.lowercased() },
            "How an update that is based on another version is resolved: automerge or optimistic_concurrency."
        ),
        .flag(
            "absent-version",
            \.models.takesAbsentVersion,
            "Whether an update without _version applies to what is stored, and not to version 0."
        ),
        .choice(
            "topic-names",
            \.models.topicNameRule,
            ["unique", "any"],
            "Names of an owner's topics. unique: each is given once; any: as often as it is asked for, as on AWS."
        ),
        .seconds(
            "tombstone-seconds",
            \.models.tombstoneSeconds,
            60...1e9,
            "How long a deleted record is kept for sync."
        ),
        .seconds("delta-seconds", \.models.deltaSeconds, 0...1e9, "How far back sync answers with changes alone."),
        .seconds("reaper-seconds", \.models.reaperSeconds, 1...1e6, "Time between two removals of old tombstones."),
        .flag(
            "hide-deleted",
            \.models.hidesDeleted,
            "Whether deleted records show in sync alone, and elsewhere as missing."
        ),
        .choice(
            "jwt-provider",
            \.signIn.provider,
            ["userpools", "oidc"],
            "Which @auth rules apply to users of the JWT issuer. userpools: also rules without a provider; oidc: only rules with provider: oidc."
        ),
        .list(
            "jwt-username-claim",
            \.signIn.usernameClaims,
            "Claims that may name a user, with commas; the first one present counts. End with sub to fall back on it."
        ),
    ]
}

extension ModelSettings {
    /// The rule of topics' names as settings spell it.
    fileprivate var topicNameRule: String {
        get { topicNamesAreUnique ? "unique" : "any" }
        set { topicNamesAreUnique = newValue == "unique" }
    }

    /// The handler as settings spell it.
    fileprivate var conflictHandlerName: String {
        get { conflictHandler.rawValue.lowercased() }
        set { conflictHandler = ConflictHandler(rawValue: newValue.uppercased()) ?? conflictHandler }
    }
}
