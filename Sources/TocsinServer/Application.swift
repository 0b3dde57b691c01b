import GraphQL
import GraphQLTransport
import Logging
import NIOCore
import NIOPosix
import TocsinAPI
import TocsinAuth
import TocsinCore
import TocsinHTTP
import TocsinHTTP2
import TocsinPostgres
import TocsinPush
import TocsinStore

/// The whole server, wired: builds every part from settings, starts and stops them in order.
package final class Application: Sendable {
    private let settings: Settings
    private let logger: Logger
    private let database: any SQLDatabase
    private let store: SQLStore
    /// How long the database is waited for at a stop, once requests and pushes have had their time.
    private static let databaseSeconds = 2
    private let preparation: Preparation
    private let isPrepared: Bool
    private let storage: OwnerStorage?
    private let storedTables: [ModelTable]
    private let http: CurlClient
    private let pushLoops: MultiThreadedEventLoopGroup
    private let outbox: Outbox
    private let webhooks: WebhookWorker
    private let feed: LiveFeed
    private let health: Health
    private let server: HTTPServer<TocsinGraphQL>
    private let revocations: RevocationWatch
    private let userFacts: UserFactsKeeper
    private let neighbours: Cluster?
    private let upkeep: Upkeep
    private let jobs = Jobs()

    /// Opens and migrates the data and builds all parts; nothing listens yet.
    ///
    /// Long because it is the list of all parts, each made once and handed to those after it.
    package init(settings: Settings, log: LogOutput) async throws(StartError) {
        self.settings = settings
        let ownTime = SystemTime()
        let node = NodeIdentity(settings, database: Wiring.database(settings), time: ownTime)
        let time: any TimeSource = node?.time ?? ownTime
        let identifiers = SystemIdentifiers(time: time)
        logger = Logger(label: "tocsin") { _ in
            JSONLogHandler(
                level: Logger.Level(rawValue: settings.server.logLevel) ?? .info,
                time: time,
                output: log
            )
        }
        database = Wiring.database(settings) { [logger] in ConnectionLog.write($0, to: logger) }
        logger.info("starting", metadata: ["node": "\(settings.server.nodeName)"])
        FreedMemory.giveBackLargeBlocks()
        if let lack = OpenFiles.raise(for: settings.limits.connections) { logger.warning("\(lack)") }
        let serverKey = try Wiring.serverKey(settings)
        let sealer = KeySealer(serverKey)
        // Before the data is touched: a start that fails here has migrated nothing.
        let declarations = try Declarations(settings, sealer: sealer)
        let schema = declarations.schema
        for reason in declarations.warnings {
            logger.warning("the schema leaves no room for a shipped route or search", metadata: ["reason": "\(reason)"])
        }
        let hub = EventHub()
        store = try await Wiring.openStore(
            settings,
            on: database,
            role: .server,
            migrations: settings.server.migrates ? .apply : .require,
            at: time.now(),
            journal: node?.journal,
            diagnostics: { [logger] in logger.error("the database failed", metadata: ["reason": "\($0)"]) },
            observer: node?.observer(hub) ?? hub.publish
        )
        http = CurlClient(caFile: settings.push.caPath)
        let userFacts = UserFactsKeeper(
            store: store,
            time: time,
            rights: PushRights(topics: schema.topics, messages: schema.messages)
        )
        self.userFacts = userFacts
        let authenticator = try Wiring.authenticator(
            settings,
            serverKey: serverKey,
            store: store,
            http: http,
            time: time,
            noted: userFacts.note
        )
        hub.add(hearing: .accessEnded) { events in for event in events { authenticator.observe(event) } }

        let receivers = try Webhooks.made(from: settings)
        let listeners = DeliveryListeners()
        var environment = ServiceEnvironment(
            store: store,
            time: time,
            identifiers: identifiers,
            limits: settings.limits.ofServices,
            models: settings.models,
            webPush: try Wiring.webPushRegistrar(settings),
            webhooks: receivers.isEmpty ? nil : WebhookRegistry(webhooks: receivers, identifiers: identifiers),
            staleMerges: { [logger] merge in
                logger.notice(
                    "an update of another version was merged: fields that had a value keep it",
                    metadata: [
                        "model": "\(merge.model)", "id": "\(merge.id)", "named": "\(merge.namedVersion)",
                        "stored": "\(merge.storedVersion)",
                    ]
                )
            },
            deliveryListeners: listeners,
            storage: OwnerStorage(bytes: settings.limits.storageBytesPerOwner, time: time)
        )
        environment.pushesRequireSignIn = settings.push.requiresSignIn
        storage = environment.storage
        storedTables = schema.models.map(\.table)
        preparation = Preparation(store: store, models: schema.models, time: time, logger: logger)
        isPrepared = try await preparation.begin()
        let categories = try CategoryLoading.load(path: settings.server.categoriesPath)
        pushLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        outbox = try Outbox(
            settings: settings,
            environment: environment,
            schema: schema,
            content: Wiring.pushContent(settings, categories: categories, sealer: sealer),
            http: http,
            loops: pushLoops,
            listeners: listeners,
            node: node?.instance ?? settings.server.nodeName,
            logger: logger
        )
        let outbox = outbox
        hub.add(hearing: Outbox.kindsHeard) { events in outbox.hear(events) }
        webhooks = WebhookWorker(
            webhooks: receivers,
            environment: environment,
            http: http,
            policy: Outbox.outboxSettings(settings).retry,
            report: { [logger] in Webhooks.write($0, to: logger) }
        )
        let webhooks = webhooks
        hub.add(hearing: .webhooksFilled) { _ in webhooks.wake() }
        let services = Services(
            environment: environment,
            schema: schema,
            sealer: sealer,
            forecast: outbox.forecast,
            categories: categories,
            report: FailureReport(logger: logger, identifiers: identifiers, time: time).callAsFunction
        )
        let (executor, documents) = (declarations.executor, declarations.documents)
        if documents.trustedCount > 0 {
            logger.info(
                "trusted documents are known",
                metadata: ["count": "\(documents.trustedCount)", "mode": "\(settings.server.trustedMode)"]
            )
        }
        feed = LiveFeed(executor: executor, sealer: sealer, hub: hub, listeners: listeners)

        let revoked = RevocationList()
        revocations = RevocationWatch(
            store: store,
            list: revoked,
            hub: hub,
            time: time,
            isTold: node != nil,
            logger: logger
        )
        if let node {
            neighbours = Cluster(
                node,
                database: database,
                models: schema.models,
                doorbell: try Wiring.doorbell(settings, instance: node.instance),
                roster: Wiring.roster(node, serverKey: serverKey, store: store, listeners: listeners, logger: logger),
                listeners: Cluster.Listeners(hub: hub, feed: feed, deliveries: listeners),
                logger: logger
            )
        } else {
            neighbours = nil
        }
        let keptSeconds = Double(settings.push.keptDays) * 86_400
        var removals = [
            TombstoneReaper(environment: environment, models: schema.models).task,
            DeliveryReaper(store: store, time: time, keptSeconds: keptSeconds).task,
            MessageReaper(store: store, time: time, retention: settings.retention).task { [logger] in
                logger.info("old messages were removed", metadata: ["count": "\($0)"])
            },
        ]
        if !receivers.isEmpty { removals.append(WebhookEventReaper(store: store, time: time).task) }
        if node != nil { removals.append(JournalReaper(store: store, time: time).task) }
        upkeep = Upkeep(tasks: removals, time: time, lease: neighbours?.lease("upkeep"), logger: logger)
        health = Health(store: store, providers: outbox.providers, neighbours: neighbours)
        let service = TocsinGraphQL(
            executor: executor,
            feed: feed,
            services: services,
            schema: schema,
            authenticator: authenticator,
            revoked: revoked,
            settle: neighbours?.settle,
            documents: documents,
            rates: RequestRates(
                perSecond: settings.limits.ratePerSecond,
                burst: settings.limits.rateBurst,
                time: time
            )
        )
        var front = settings.ofHTTPServer
        let gateway = Gateway(service: service, routes: declarations.routes, limits: front.request.json)
        front.crossOrigin.methods += gateway.methods.filter { !front.crossOrigin.methods.contains($0) }
        server = HTTPServer(
            HTTPServer.Content(service: service, health: health, routes: gateway.httpRoutes),
            settings: front,
            logger: logger,
            now: { time.now().milliseconds }
        )
        let server = server
        // Told again once the list knows of it: what comes before finds nobody.
        hub.add(hearing: .accessEnded) { _ in server.accessHasEnded() }
    }

    /// Starts the outbox and the feed, then listens; answers the server's address.
    package func start() async throws(StartError) -> String {
        try await neighbours?.start()
        await revocations.look()
        addJobs()
        do {
            let address = try await server.start()
            let scheme = settings.server.tlsCertificatePath == nil ? "http" : "https"
            let host = address.host.contains(":") ? "[\(address.host)]" : address.host
            return "\(scheme)://\(host):\(address.port)"
        } catch {
            throw StartError(error.description)
        }
    }

    private func addJobs() {
        let (feed, outbox, webhooks, revocations, neighbours) = (feed, outbox, webhooks, revocations, neighbours)
        let (preparation, userFacts, upkeep) = (preparation, userFacts, upkeep)
        if !isPrepared { jobs.add { await preparation.run() } }
        jobs.add { await revocations.run() }
        jobs.add { await userFacts.run() }
        jobs.add { await feed.run() }
        jobs.add { await outbox.run() }
        jobs.add { await webhooks.run() }
        if let storage {
            let (store, tables, logger) = (store, storedTables, logger)
            jobs.add {
                await storage.run(store, tables: tables) {
                    logger.error("what an owner has stored could not be measured", metadata: ["reason": "\($0)"])
                }
            }
        }
        jobs.add { await upkeep.run() }
        if let neighbours { jobs.add { await neighbours.run() } }
    }

    /// Takes the files of TLS anew, all or nothing: connections from now on see the new certificate, those that are open
    /// go on as they are.
    package func reload() {
        guard let key = settings.server.tlsKeyPath else {
            return logger.notice("nothing to reload: the server speaks no TLS; other settings need a restart")
        }
        do throws(HTTPServerError) {
            try server.reloadTLS()
            logger.notice(
                "the TLS certificate and key were reloaded",
                metadata: ["certificate": "\(settings.server.tlsCertificatePath ?? "")"]
            )
        } catch {
            logger.error(
                "the TLS certificate and key could not be reloaded; those of before stay in use",
                metadata: ["reason": "\(error)"]
            )
        }
        if SettingsFiles.system(environment: [:]).isOpenToOthers(key) {
            logger.warning("\(SettingsFiles.openFileSentence(key, name: "TOCSIN_TLS_KEY"))")
        }
    }

    /// Stops in order: not ready, no new connections and claims; requests in flight end, sockets are
    /// told, pushes under way are awaited; then the database is closed.
    package func stop() async {
        logger.info("stopping")
        health.stop()
        let grace = Int(settings.server.stopSeconds)
        (database as? PostgresDatabase)?.giveUp(afterSeconds: grace + Self.databaseSeconds)
        outbox.stop()
        webhooks.stop()
        feed.stop()
        await server.shutdown(graceSeconds: grace)
        await jobs.end()
        await outbox.close()
        await neighbours?.stop()
        await store.close()
        http.stop()
        try? await pushLoops.shutdownGracefully()
        logger.info("stopped")
    }
}
