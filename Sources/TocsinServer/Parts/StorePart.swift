import Logging
import Metrics
import TocsinAPI
import TocsinAuth
import TocsinCore
import TocsinPush
import TocsinReceivers
import TocsinStore

/// The opened and migrated data, who hears of its changes, and what all services work with.
struct StorePart: Sendable {
    let store: SQLStore
    let hub = EventHub()
    let listeners = DeliveryListeners()
    /// Counts what this node commits.
    let commits: CommitMetrics
    let webhooks: Reloadable<[Webhook]>
    private let storage: OwnerStorage
    let environment: ServiceEnvironment
    /// Receivers that are written as data.
    let receivers: Reloadable<ReceiverCatalog>
    private let models: [ModelType]
    private let preparation: Preparation
    private let isPrepared: Bool
    private let logger: Logger

    init(_ process: ProcessPart, progress: StartProgress, declarations: Declarations) async throws(StartError) {
        let (settings, time, logger) = (process.settings, process.time, process.log.logger(.store))
        self.logger = logger
        let schema = declarations.schema
        receivers = Reloadable(declarations.receivers)
        models = schema.models
        let webhooks = Reloadable(try Self.webhooks(settings.webhooks))
        let storage = OwnerStorage(bytes: settings.limits.storageBytesPerOwner, time: time)
        (self.webhooks, self.storage) = (webhooks, storage)
        try process.data.makeFolder()
        progress.enter("opening the database")
        commits = CommitMetrics(topics: settings.server.metricsTopics)
        let (commits, observe) = (commits, Self.observer(process, hub))
        store = try await process.data.openStore(
            role: .server,
            migrations: settings.server.migrates ? .apply : .require,
            at: time.now(),
            journal: process.node?.journal,
            migrationNote: DataAccess.migrationNote(
                by: AuditActor(kind: .server, id: settings.server.nodeName),
                identifiers: process.identifiers,
                at: time.now()
            ),
            opening: { progress.enter($0) },
            metrics: process.metrics.store,
            diagnostics: {
                logger.error("the database failed", metadata: ["event": "database_failed", "reason": "\($0)"])
            },
            observer: { events in
                commits.note(events)
                observe(events)
            }
        )
        var environment = ServiceEnvironment(
            store: store,
            time: time,
            identifiers: process.identifiers,
            limits: settings.limits.ofServices,
            models: settings.models,
            webPush: try settings.webPush.registrar(),
            webhooks: webhooks.value.isEmpty
                ? nil
                : WebhookRegistry(
                    webhooks: webhooks,
                    identifiers: process.identifiers,
                    links: settings.server.incidentLinks(process.sealer)
                ),
            staleMerges: { Self.write($0, to: logger) },
            deliveryListeners: listeners,
            storage: storage
        )
        environment.metrics = commits
        environment.nodeName = settings.server.nodeName
        environment.pushesRequireSignIn = settings.push.requiresSignIn
        environment.zones = ZoneFolder(path: settings.server.zonesPath ?? "", time: time)
        environment.claimedGroups = settings.signIn.claimedGroups
        environment.settingsGroups.replace(with: settings.signIn.namedGroups)
        environment.passwords = PasswordGate()
        environment.bindsDevices = settings.push.bindsDevices
        environment.tokenTexts = LocalTokens(process.serverKey)
        environment.registrationProofs = Self.registrationProofs(process)
        environment.hooks = Self.hooks(schema, environment, receivers, settings.server.receiverShapes)
        self.environment = environment
        preparation = Preparation(
            store: store,
            models: models,
            time: time,
            logger: logger,
            progress: progress
        )
        progress.enter("preparing the database")
        isPrepared = try await preparation.begin()
        process.metrics.add(commits)
        process.metrics.add(store)
        process.metrics.add(process.data.database.metrics)
        process.metrics.refresh?.connect(store)
        process.metrics.refresh?.add { reader throws(StoreError) in
            [.gauge("tocsin_sessions", "People's sessions that are good", try reader.sessionCount(at: time.now()))]
        }
    }

    private static func hooks(
        _ schema: APISchema,
        _ environment: ServiceEnvironment,
        _ receivers: Reloadable<ReceiverCatalog>,
        _ shapes: Set<Integration.Kind>
    ) -> [String: any ModelHook] {
        guard schema.integrations != nil else { return [:] }
        let rights = PushRights(
            topics: schema.topics,
            messages: schema.messages,
            claimedGroups: environment.claimedGroups
        )
        let integrations = IntegrationHook(rights: rights, shapes: shapes) { name, template in
            do throws(TemplateProblem) {
                _ = try receivers.value.receiver(named: name, template: template)
                return nil
            } catch {
                return error.text + "."
            }
        }
        var hooks: [any ModelHook] = [integrations]
        if let monitors = schema.monitors {
            hooks.append(MonitorHook(of: monitors, rights: rights, zones: environment.zones))
        }
        return hooks.reduce(into: [:]) { $0[$1.model] = $1 }
    }

    private static func observer(_ process: ProcessPart, _ hub: EventHub) -> @Sendable ([DomainEvent]) -> Void {
        guard let node = process.node else { return { hub.publish($0) } }
        return node.observer(hub)
    }

    /// Prepares the data if its database was away at the start; returns when that is done.
    func prepare() async {
        if !isPrepared { await preparation.run() }
    }

    /// Says in the log which names several topics of one owner have.
    func reportTopicNames() async {
        guard environment.models.topicNamesAreUnique else { return }
        await TopicNameReport.write(store, to: logger)
    }

    /// Quotas, webhooks and the key of browsers' pushes; nothing is changed until the step is run.
    func reloading(_ settings: Settings) throws(StartError) -> ReloadStep {
        let webhooks = try Self.webhooks(settings.webhooks)
        let registrar = try settings.webPush.registrar()
        return { [environment, storage, reloadable = self.webhooks] in
            environment.reloadableLimits.replace(with: settings.limits.ofServices)
            environment.reloadableWebPush.replace(with: registrar)
            environment.settingsGroups.replace(with: settings.signIn.namedGroups)
            storage.setBound(bytes: settings.limits.storageBytesPerOwner)
            reloadable.replace(with: webhooks)
        }
    }

    /// Measures what owners have stored, until it is cancelled.
    func measure() async {
        await environment.storage?.run(store, tables: models.map(\.table)) { [logger] in
            logger.error(
                "what an owner has stored could not be measured",
                metadata: ["event": "storage_unmeasured", "reason": "\($0)"]
            )
        }
    }

    private static func registrationProofs(_ process: ProcessPart) -> RegistrationProofs {
        let log = RefusedProofLog(logger: process.log.logger(.signIn), time: process.time)
        return RegistrationProofs(
            mode: RegistrationProofs.Mode(rawValue: process.settings.signIn.registrationProof) ?? .off,
            serverName: process.settings.server.publicName ?? "",
            sealer: process.sealer,
            verifier: ProofVerifier(),
            noteRefusal: log.note
        )
    }

    private static func write(_ merge: StaleMerge, to logger: Logger) {
        logger.notice(
            "an update of another version was merged: fields that had a value keep it",
            metadata: [
                "event": "stale_update_merged", "model": "\(merge.model)", "record_id": "\(merge.id)",
                "named_version": .stringConvertible(merge.namedVersion),
                "stored_version": .stringConvertible(merge.storedVersion),
            ]
        )
    }

    private static func webhooks(_ settings: [Settings.Webhook]) throws(StartError) -> [Webhook] {
        var webhooks: [Webhook] = []
        for webhook in settings {
            do throws(KeyError) {
                var made = Webhook(
                    name: webhook.name,
                    url: webhook.url,
                    signer: try HMACKey(webhookSecret: webhook.secret.contents),
                    types: webhook.types,
                    includesTokens: webhook.includesTokens,
                    scheduleUsers: webhook.scheduleUsers
                )
                made.topics = webhook.topics
                (made.includesTexts, made.includesActions) = (webhook.includesTexts, webhook.includesActions)
                webhooks.append(made)
            } catch {
                throw StartError("The secret of webhook \(webhook.name): \(error.description)")
            }
        }
        return webhooks
    }
}
