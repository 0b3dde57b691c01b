import TocsinAPI
import TocsinAuth
package import TocsinCore
import TocsinSQLite
package import TocsinStore

/// What commands do to the data beside a running server: accounts, tokens, migrations.
package struct OfflineStore: Sendable {
    /// Local accounts and their tokens.
    package let accounts: AccountService
    /// What tokens may do, and for how long.
    package let tokens: TokenService
    /// Local users.
    package let people: PeopleService
    /// People of sign-in providers who are linked to local users.
    package let identities: IdentityService
    /// Local groups.
    package let groups: GroupService
    /// API keys.
    package let keys: KeyService
    /// Devices and memberships of anybody.
    package let pushes: PushAdministration
    /// Who changed what.
    package let audit: AuditService
    let devices: DeviceService
    let store: SQLStore
    private let providers: [OIDCProvider]
    /// Whether names of topics are their owner's only once.
    let topicNamesAreUnique: Bool
    private let topics: ModelType

    /// Opens the data, does the work, closes.
    ///
    /// Unless it `mayCreate` one, there must be a database already.
    package static func run(
        settings: Settings,
        migrations: MigrationMode,
        mayCreate: Bool,
        _ body: (OfflineStore) async throws(ServiceError) -> Void
    ) async throws(StartError) {
        if mayCreate {
            try DataAccess(settings).makeFolder()
        } else {
            try DataAccess(settings).requireDatabase()
        }
        let tool = try await OfflineStore(settings: settings, migrations: migrations, mayCreate: mayCreate)
        do {
            try await body(tool)
            await tool.store.close()
        } catch {
            await tool.store.close()
            throw StartError(Self.sentence(for: error))
        }
    }

    private init(settings: Settings, migrations: MigrationMode, mayCreate: Bool) async throws(StartError) {
        let time = SystemTime()
        // Servers on a shared database hear of what a command ends.
        let (data, identifiers) = (DataAccess(settings), SystemIdentifiers(time: time))
        let journal = data.database.isShared ? Journal(instance: NodeIdentity.instance("tool", time)) : nil
        store = try await data.openStore(
            role: .tool,
            migrations: migrations,
            at: time.now(),
            journal: journal,
            migrationNote: DataAccess.migrationNote(
                by: AuditActor(kind: .operator, id: DataAccess.systemAccount),
                identifiers: identifiers,
                at: time.now()
            )
        )
        topicNamesAreUnique = settings.models.topicNamesAreUnique
        let schema = try SchemaLoading.load(settings.server)
        topics = schema.topics
        var environment = ServiceEnvironment(store: store, time: time, identifiers: identifiers)
        environment.operatorName = DataAccess.systemAccount
        environment.claimedGroups = settings.signIn.claimedGroups
        environment.passwords = PasswordGate()
        people = PeopleService(environment: environment)
        identities = IdentityService(environment: environment)
        providers = settings.signIn.providers
        groups = GroupService(
            environment: environment,
            sharing: SharingService(
                environment: environment,
                rights: PushRights(
                    topics: schema.topics,
                    messages: schema.messages,
                    claimedGroups: environment.claimedGroups
                )
            ),
            models: schema.models
        )
        accounts = AccountService(environment: environment)
        keys = KeyService(environment: environment)
        audit = AuditService(environment: environment)
        pushes = PushAdministration(environment: environment, topics: topics)
        var limited = environment
        limited.limits = settings.limits.ofServices
        let key = mayCreate ? try data.serverKey() : try data.existingServerKey()
        limited.tokenTexts = key.map { LocalTokens($0) }
        devices = DeviceService(environment: limited)
        tokens = TokenService(environment: limited, topics: topics)
    }

    /// Makes an API key and records it; answers its text, which is stored nowhere.
    package func makeKey(
        name: String,
        lifetimeSeconds: Double,
        networks: [String] = []
    ) async throws(ServiceError) -> String {
        let networks = try TokenService.networks(of: networks)
        let text = APIKeyText.make()
        _ = try await keys.record(
            digest: APIKeyText.digest(of: text),
            name: name,
            lifetimeSeconds: lifetimeSeconds,
            networks: networks
        )
        return text
    }

    /// Links somebody of a provider of the settings to a user.
    package func link(_ user: UserReference, provider id: String, subject: String) async throws(ServiceError) {
        let provider = try provider(id)
        guard let own = provider.userID(ofSubject: subject) else {
            throw .badInput("A subject has 1 to 256 printable characters, no :: and no colon at its ends.")
        }
        let person = VouchedPerson(
            provider: id,
            issuer: provider.issuer,
            subject: subject,
            userID: own,
            username: subject
        )
        _ = try await identities.link(person, to: user)
    }

    /// Takes somebody of a provider of the settings from a user.
    package func unlink(_ user: UserReference, provider id: String, subject: String) async throws(ServiceError) {
        let issuer = try provider(id).issuer
        _ = try await identities.unlink(issuer: issuer, subject: subject, from: user)
    }

    private func provider(_ id: String) throws(ServiceError) -> OIDCProvider {
        if let found = providers.first(where: { $0.id == id }) { return found }
        let known = providers.map(\.id).joined(separator: ", ")
        throw .badInput(
            known.isEmpty
                ? "The settings name no sign-in provider. Set TOCSIN_OIDC_ISSUER and what goes with it."
                : "The settings name no provider \(id.prefix(64)), but \(known)."
        )
    }

    /// The id of a user's topic, given its id or its name.
    package func topicID(_ topic: String, of account: Account) async throws(ServiceError) -> String {
        let caller = Identity(userID: account.id, username: account.name)
        guard let id = topics.position(of: "id"), let name = topics.position(of: "name"),
            case .allow(let visible) = AccessPolicy.decision(.read, on: topics, for: caller)
        else { throw .unauthorized }
        let wanted = Predicate.any([.field(id, .equal(.text(topic))), .field(name, .equal(.text(topic)))])
        let query = ModelQuery(
            model: topics,
            predicate: visible.and(wanted),
            order: [ModelQuery.Order(field: id)],
            limit: 2
        )
        let found = try await store.reading(for: .server) { reader throws(StoreError) in try reader.records(query) }
            .filter { !$0.isDeleted }
        guard let first = found.first else {
            throw .badInput("\(account.name) has no topic \(topic). Create it first.")
        }
        guard found.count == 1 else {
            throw .badInput("\(account.name) has several topics named \(topic); give its id.")
        }
        return first.id
    }

    /// One line a migration: number, name, and when it was applied; of one that waits, whether
    /// older programs can go on after it.
    package func migrations() async throws(ServiceError) -> [String] {
        do {
            return try await store.migrationStatus().map { migration in
                "\(migration.number) \(migration.name) "
                    + (migration.appliedAt.map { "applied \($0.iso8601)" } ?? "not applied")
                    + (migration.appliedAt == nil && migration.isAdditive == false ? ", not additive" : "")
            }
        } catch {
            throw ServiceError(error)
        }
    }

    /// Events that wait for webhooks or were given up, the oldest first.
    package func webhookEvents(status: WebhookEvent.Status?) async throws(ServiceError) -> [WebhookEvent] {
        try await store.reading(for: .server) { reader throws(StoreError) in
            try reader.webhookEvents(status: status, limit: 1000)
        }
    }

    /// What is to be done at a time, what is due first before the rest.
    package func timers(failedOnly: Bool) async throws(ServiceError) -> [TimerEntry] {
        try await store.reading(for: .server) { reader throws(StoreError) in
            try reader.timers(failedOnly: failedOnly, limit: 1000)
        }
    }

    /// Makes events that were given up due again; answers how many.
    package func redriveWebhookEvents(of webhook: String?) async throws(ServiceError) -> Int {
        let now = SystemTime().now()
        return try await store.writing { writer throws(StoreError) in
            .success(try writer.redriveWebhookEvents(of: webhook, now: now))
        }
    }

    private static func sentence(for error: ServiceError) -> String {
        switch error {
        case .badInput(let text), .conflicting(let text), .badRequest(let text, _), .limit(let text),
            .internal(let text), .badCursor(let text, _), .cursorExpired(let text, _), .proofRefused(let text),
            .unauthenticated(let text),
            .tooManyTries(let text, _):
            text
        case .uncertain(let reason): "The outcome is unknown: \(reason)."
        case .unavailable(let reason): "The database cannot be used just now: \(reason)"
        case .unauthorized, .reauthenticate: "This user may not do that."
        case .nameTaken(let name, _): "There is a topic named \(name) already; use another name."
        case .conflict, .conditionFailed, .versionConflict, .badPageToken: "The data has changed meanwhile; try again."
        }
    }
}
