import GraphQL
import Logging
import TocsinAPI
import TocsinAuth
import TocsinCore
import TocsinHTTP
import TocsinHTTP2
import TocsinPostgres
import TocsinPush
import TocsinSQLite
import TocsinStore

/// Makes single parts from settings.
enum Wiring {
    static func openStore(
        _ settings: Settings,
        on database: any SQLDatabase,
        role: StoreRole,
        migrations: MigrationMode,
        at now: Timestamp,
        journal: Journal? = nil,
        diagnostics: @escaping @Sendable (StoreError) -> Void = { _ in },
        observer: @escaping @Sendable ([DomainEvent]) -> Void = { _ in }
    ) async throws(StartError) -> SQLStore {
        try makeDataDirectory(settings)
        var storeSettings = StoreSettings()
        storeSettings.migrations = migrations
        storeSettings.journal = journal
        storeSettings.readerCount = settings.server.databaseReaders
        do {
            return try await SQLStore.open(
                database,
                role: role,
                at: now,
                settings: storeSettings,
                commitObserver: observer,
                diagnostics: diagnostics
            )
        } catch {
            throw StartError(error.description)
        }
    }

    /// The database that the settings name; nothing is opened.
    ///
    /// `news` is told of its connections.
    static func database(
        _ settings: Settings,
        news: @escaping @Sendable (ConnectionNews) -> Void = { _ in }
    ) -> any SQLDatabase {
        switch settings.server.databaseAddress {
        case .sqlite(let path): return SQLiteDatabase(path: path)
        case .postgres(let url):
            var database = PostgresDatabase(url: url.contents)
            database.options.preparesStatements = settings.server.databasePrepared
            database.news = news
            return database
        }
    }

    static func serverKey(_ settings: Settings) throws(StartError) -> ServerKey {
        if settings.server.serverKey == nil { try makeDataDirectory(settings) }
        do {
            if let text = settings.server.serverKey { return try ServerKey(text: text.contents) }
            return try ServerKey.load(from: settings.server.dataDirectory)
        } catch {
            throw StartError(error.description)
        }
    }

    static func vapidKey(_ settings: Settings) throws(StartError) -> VAPIDKey? {
        guard let key = settings.webPush.privateKey else { return nil }
        do {
            return try VAPIDKey(privateText: key.contents)
        } catch {
            throw StartError("VAPID_PRIVATE_KEY: \(error.description)")
        }
    }

    /// What browsers' subscriptions are checked by, whether or not pushes to them can be signed.
    static func webPushRegistrar(_ settings: Settings) throws(StartError) -> WebPushRegistrar {
        WebPushRegistrar(
            applicationServerKey: try vapidKey(settings)?.publicText,
            crypto: WebPushCipher(),
            rules: settings.webPush.rules
        )
    }

    static func executor(
        _ schema: APISchema,
        sealer: any Sealer,
        limits: Settings.Limits
    ) throws(StartError) -> ResponseExecutor {
        do {
            return try ResponseExecutor(
                schema: schema,
                sealer: sealer,
                parseLimits: limits.ofParsing,
                validationLimits: limits.ofValidation,
                planOptions: limits.ofPlans,
                maximumResponseBytes: limits.responseBytes
            )
        } catch {
            throw StartError("The schema and the resolvers disagree:\n\(error.description)")
        }
    }

    /// Which documents requests may run; reads and checks those that are trusted.
    static func documents(
        _ settings: Settings,
        executor: ResponseExecutor,
        routes: [Route]
    ) throws(StartError) -> RequestDocuments {
        let hash: DocumentHash = { Digest.sha256($0) }
        let mode = RequestDocuments.TrustMode(rawValue: settings.server.trustedMode) ?? .off
        var trusted = TrustedDocuments()
        if mode != .off, let path = settings.server.trustedDocumentsPath {
            var reading = TrustedDocumentReading(hash: hash, executor: executor)
            trusted = try reading.documents(at: path)
            // Routes are the operator's word as much as documents are.
            for text in routes.flatMap(\.documents) {
                guard let digest = DocumentDigest(hash(Array(text.utf8))) else { continue }
                _ = trusted.add(text, digest: digest)
            }
        }
        let persisted = PersistedQueries(
            maximumEntries: settings.limits.persistedQueries,
            maximumBytes: settings.limits.persistedQueryBytes
        )
        return RequestDocuments(
            hash: hash,
            persisted: settings.server.persistsQueries ? persisted : nil,
            trusted: trusted,
            mode: mode
        )
    }

    /// What pushes show beside the message itself.
    static func pushContent(
        _ settings: Settings,
        categories: [NotificationCategory],
        sealer: any Sealer
    ) -> PushContent {
        var content = PushContent(
            categories: categories,
            cursor: { MessageCursor(inTopicOf: $0)?.text(sealer: sealer) }
        )
        content.placeholderTitle = settings.push.placeholderTitle
        content.placeholderBody = settings.push.placeholderBody
        return content
    }

    static func authenticator(
        _ settings: Settings,
        serverKey: ServerKey,
        store: any Store,
        http: any OutgoingHTTP,
        time: any TimeSource,
        noted: @escaping @Sendable (Identity) -> Void
    ) throws(StartError) -> TokenAuthenticator {
        var external: ExternalTokens?
        if let issuer = settings.signIn.issuer {
            external = ExternalTokens(
                issuer: issuer,
                audiences: Set(settings.signIn.audiences),
                keys: try keySource(settings.signIn, http: http, time: time),
                provider: settings.signIn.provider == "oidc" ? .oidc : .userPools,
                usernameClaims: settings.signIn.usernameClaims
            )
        }
        return TokenAuthenticator(
            local: LocalTokens(serverKey),
            external: external,
            store: store,
            time: time,
            noted: noted
        )
    }

    private static func keySource(
        _ signIn: Settings.SignIn,
        http: any OutgoingHTTP,
        time: any TimeSource
    ) throws(StartError) -> KeySource {
        do {
            if let secret = signIn.hs256Secret { return .secret(try HMACKey(secret: Array(secret.contents.utf8))) }
            if let json = signIn.jwks { return .fixed(try KeySet(json: json)) }
        } catch {
            throw StartError(error.description)
        }
        guard let url = signIn.jwksURL else {
            throw StartError(
                "External sign-in needs keys: set TOCSIN_JWKS_URL, TOCSIN_JWKS_FILE or TOCSIN_JWT_HS256_SECRET."
            )
        }
        return .remote(RemoteKeySet(url: url, http: http, time: time))
    }

    static func makeDataDirectory(_ settings: Settings) throws(StartError) {
        let path = settings.server.dataDirectory
        do throws(SystemFile.Failure) {
            try SystemFile.makeFolder(path)
        } catch {
            throw StartError("The data directory \(path) cannot be made: \(error.reason).")
        }
    }
}
