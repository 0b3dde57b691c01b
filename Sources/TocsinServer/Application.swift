import Logging
import Synchronization
import TocsinAPI
import TocsinCore
import TocsinHTTP
import TocsinPush
import TocsinStore

/// Why the server cannot start, in a sentence that says what to do.
package struct StartError: Error, Sendable, CustomStringConvertible {
    /// What stops the start, and what to do.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The whole server: its parts, each made from those before it, started and stopped in order.
package final class Application: Sendable {
    private let process: ProcessPart
    private let store: StorePart
    private let signIn: SignInPart
    private let access: AccessPart
    private let push: PushPart
    private let api: APIPart
    /// nil where the database is this node's alone.
    private let cluster: Cluster?
    private let upkeep: UpkeepPart
    private let timers: TimerPart
    private let audit: ServerAudit
    private let front: FrontPart
    /// Takes changed settings while the server runs.
    package let reloader: Reloader
    /// What runs from start to stop.
    private let work = Mutex<Task<Void, Never>?>(nil)
    /// Tells the set-up code, once the address is known.
    private let setup = Mutex<Task<Void, Never>?>(nil)
    /// How long the database is waited for at a stop, once requests and pushes have had their time.
    private static let databaseSeconds = 2

    /// Opens and migrates the data and builds all parts; nothing listens yet.
    ///
    /// - Parameters:
    ///   - ownDocuments: Those of this program's own client, trusted without being declared.
    ///   - rereading: Reads the settings as they were read for this start.
    package init(
        settings: Settings,
        log: LogOutput,
        ownDocuments: [String] = [],
        rereading: @escaping Reloader.Reading
    ) async throws(StartError) {
        process = try ProcessPart(settings, log: log)
        // Before the data is touched: a start that fails here has migrated nothing.
        let declarations = try Declarations(settings, sealer: process.sealer, ownDocuments: ownDocuments)
        declarations.log(to: process.logger)
        let schema = declarations.schema
        store = try await StorePart(process, schema: schema)
        signIn = SignInPart(process, store: store)
        access = try AccessPart(process, store: store, signIn: signIn, schema: schema)
        push = try PushPart(process, store: store, schema: schema)
        api = APIPart(process, store: store, push: push, signIn: signIn, declarations: declarations)
        cluster = try Cluster(process, store: store, feed: api.feed, models: schema.models)
        upkeep = UpkeepPart(process, store: store, schema: schema, cluster: cluster)
        timers = TimerPart(process, store: store, api: api, schema: schema, cluster: cluster)
        audit = ServerAudit(process, store: store, schema: schema)
        front = FrontPart(
            process,
            store: store,
            signIn: signIn,
            access: access,
            push: push,
            api: api,
            cluster: cluster,
            declarations: declarations,
            refusedTokens: audit.refusedTokens
        )
        reloader = Reloader(
            ReloadableParts(
                process: process,
                store: store,
                signIn: signIn,
                access: access,
                push: push,
                api: api,
                upkeep: upkeep,
                front: front
            ),
            settings: settings,
            declarations: declarations,
            read: rereading
        )
    }

    /// Starts all work, then listens; answers the server's address.
    package func start() async throws(StartError) -> String {
        try await cluster?.start()
        await access.revocations.look()
        work.withLock { $0 = Task { await run() } }
        let address = try await front.listen()
        let (signIn, process) = (signIn, process)
        setup.withLock {
            $0 = Task {
                await signIn.tellSetupCode(
                    address: address,
                    publicURL: process.settings.server.publicURL,
                    to: process.logger,
                    time: process.time
                )
            }
        }
        return address
    }

    /// Runs what works beside requests, until it is cancelled.
    private func run() async {
        let (store, access, push, feed, cluster, upkeep) = (store, access, push, api.feed, cluster, upkeep)
        let (timers, audit, signIn) = (timers, audit, signIn)
        await withDiscardingTaskGroup { group in
            group.addTask {
                await store.prepare()
                await store.reportTopicNames()
            }
            group.addTask { await access.revocations.run() }
            group.addTask { await signIn.run() }
            group.addTask { await access.userFacts.run() }
            group.addTask { await access.noteUses(store.store) }
            group.addTask { await feed.run() }
            group.addTask { await push.outbox.run() }
            group.addTask { await push.webhooks.run() }
            group.addTask { await store.measure() }
            group.addTask { await upkeep.run() }
            group.addTask { await timers.run() }
            group.addTask { await audit.run() }
            if let cluster { group.addTask { await cluster.run() } }
        }
    }

    /// Stops in order: not ready, no new connections and claims; requests in flight end, sockets
    /// are told, pushes under way are awaited; then the database is closed.
    ///
    /// The order is by hand because the `ServiceGroup` of swift-service-lifecycle stops services
    /// one by one, where here claims end before requests do, and pushes under way after both. It
    /// also ends on SIGHUP, which reloads here, and drops a second SIGTERM, which has to end the
    /// process.
    package func stop() async {
        process.logger.info("stopping")
        front.health.stop()
        let grace = Int(process.settings.server.stopSeconds)
        process.data.database.giveUp(afterSeconds: grace + Self.databaseSeconds)
        push.outbox.stop()
        push.webhooks.stop()
        api.feed.stop()
        await front.server.shutdown(graceSeconds: grace)
        let setup = self.setup.withLock { $0.take() }
        setup?.cancel()
        await setup?.value
        let work = self.work.withLock { $0.take() }
        work?.cancel()
        await work?.value
        await push.close()
        await audit.end()
        await cluster?.stop()
        await store.store.close()
        process.http.stop()
        process.logger.info("stopped")
    }
}
