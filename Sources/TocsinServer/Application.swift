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
    private let admin: AdminPart
    private let backups = RunningBackup()
    private let store: StorePart
    private let signIn: SignInPart
    private let access: AccessPart
    private let push: PushPart
    private let api: APIPart
    /// nil where the database is this node's alone.
    private let cluster: Cluster?
    private let upkeep: UpkeepPart
    private let timers: TimerPart
    private let heartbeat: HeartbeatSender
    private let audit: ServerAudit
    private let front: FrontPart
    /// nil where nothing is measured.
    private let series: SeriesRing?
    private let notifier: ServiceNotifier
    /// Takes changed settings while the server runs.
    package let reloader: Reloader
    /// What runs from start to stop.
    private let work = Mutex<Task<Void, Never>?>(nil)
    /// Tells the set-up code, once the address is known.
    private let setup = Mutex<Task<Void, Never>?>(nil)
    /// Somebody asks that the server stop.
    private let stops: AsyncStream<StopWish>
    private let stopWishes: AsyncStream<StopWish>.Continuation
    /// How long the database is waited for at a stop, once requests and pushes have had their time.
    private static let databaseSeconds = 2

    /// When somebody asked that the server stop, and for how long it is to drain; nil: as the
    /// settings say.
    private struct StopWish: Sendable {
        var drainSeconds: Double?
    }

    /// Opens and migrates the data and builds all parts; only the admin listener is open yet.
    ///
    /// - Parameters:
    ///   - origins: Where the settings came from.
    ///   - warnings: Those of the settings, for the log.
    ///   - ownDocuments: Those of this program's own client, trusted without being declared.
    ///   - rereading: Reads the settings as they were read for this start.
    ///   - notifier: The service manager, which is told of the start.
    ///   - sockets: What it has opened.
    package init(
        settings: Settings,
        origins: [SettingOrigin] = [],
        log: LogDestination,
        warnings: [String] = [],
        ownDocuments: [String] = [],
        rereading: @escaping Reloader.Reading,
        notifier: ServiceNotifier = ServiceNotifier(),
        sockets: ActivatedSockets = ActivatedSockets()
    ) async throws(StartError) {
        let process = try ProcessPart(settings, log: log, warnings: warnings)
        let admin = try await AdminPart(process, sockets: sockets)
        self.notifier = notifier
        (self.process, self.admin) = (process, admin)
        (stops, stopWishes) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
        do throws(StartError) {
            // Before the data is touched: a start that fails here has migrated nothing.
            let declarations = try Declarations(settings, sealer: process.sealer, ownDocuments: ownDocuments)
            declarations.log(to: process.logger)
            let schema = declarations.schema
            let hold = notifier.holdStart(because: "opening the database", time: process.time)
            defer { hold.cancel() }
            store = try await StorePart(process, progress: admin.progress, declarations: declarations)
            signIn = SignInPart(process, store: store)
            access = try AccessPart(process, store: store, signIn: signIn, schema: schema)
            push = try PushPart(process, store: store, schema: schema)
            api = APIPart(process, store: store, push: push, signIn: signIn, declarations: declarations)
            cluster = try Cluster(process, store: store, feed: api.feed, models: schema.models)
            upkeep = UpkeepPart(process, store: store, schema: schema, cluster: cluster)
            timers = TimerPart(process, store: store, api: api, schema: schema, cluster: cluster)
            heartbeat = HeartbeatSender(process, store: store, push: push)
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
                refusedTokens: audit.refusedTokens,
                stalls: admin.stalls,
                sockets: sockets
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
        } catch {
            await admin.close()
            throw error
        }
        process.metrics.add(reloader)
        process.metrics.add(backups)
        process.metrics.add(heartbeat)
        series = process.metrics.makeSeries()
        api.services.server.replace(
            with: ServerReport(
                node: admin.node,
                process: process,
                store: store,
                push: push,
                front: front,
                cluster: cluster,
                origins: origins,
                reloader: reloader,
                ring: series
            )
        )
        admin.serve(adminRoutes(origins), health: front.health)
    }

    /// What the admin listener serves beside probes, a line each.
    private func adminRoutes(_ origins: [SettingOrigin]) -> [any AdminRoute] {
        let (process, stopWishes) = (process, stopWishes)
        let database = process.settings.server.databaseAddress
        return [
            StateRoute(
                admin: admin,
                process: process,
                store: store,
                push: push,
                api: api,
                front: front,
                cluster: cluster
            ),
            SettingsRoute(origins: origins, reloader: reloader),
            AdminMetricsRoute(metrics: process.metrics),
            LogLevelRoute(control: logControl),
            ReloadRoute { [notifier, reloader, audit, api] in await Self.reload(reloader, notifier, audit, api) },
            DrainRoute(seconds: process.settings.server.drainSeconds, logger: process.logger) {
                stopWishes.yield(StopWish(drainSeconds: $0))
            },
            CheckpointRoute(store: store.store, database: database),
            BackupRoute(database: database, backups: backups, time: process.time, logger: process.logger),
        ]
    }

    /// Starts all work, then listens; answers the server's address.
    package func start() async throws(StartError) -> String {
        admin.progress.enter("joining the other nodes")
        try await cluster?.start()
        await access.revocations.look()
        work.withLock { $0 = Task { await run() } }
        let address = try await front.listen()
        api.tellAddress(address, of: process.settings.server)
        watch()
        admin.progress.listens()
        let (signIn, process) = (signIn, process)
        setup.withLock {
            $0 = Task {
                await signIn.tellSetupCode(
                    address: address,
                    publicURL: process.settings.server.publicURL.map { $0 + process.settings.server.basePath },
                    to: process.logger,
                    time: process.time
                )
            }
        }
        notifier.ready()
        return address
    }

    /// Has what must never stand still looked at.
    private func watch() {
        let (server, store) = (front.server, store.store)
        admin.watch(server.pulses, named: "event loop") { !server.pulses.isEmpty }
        admin.watch([push.pulse], named: "event loop of pushes") { true }
        admin.watch(admin.listener.pulses, named: "event loop of the admin listener") { true }
        admin.stalls.add("writer", patienceSeconds: 60) { store.writerTurn }
    }

    /// Asks that the server stop, as whoever waits in `untilAskedToStop` then does.
    package func askToStop() { stopWishes.yield(StopWish()) }

    /// Returns once somebody has asked that the server stop; answers for how many seconds it is to
    /// drain, nil where the settings say.
    package func untilAskedToStop() async -> Double? {
        for await wish in stops { return wish.drainSeconds }
        return nil
    }

    /// Runs what works beside requests, until it is cancelled.
    private func run() async {
        let (store, access, push, feed, cluster, upkeep) = (store, access, push, api.feed, cluster, upkeep)
        let (api, jobs, heartbeat) = (api, process.metrics.jobs, heartbeat)
        let (timers, audit, signIn, log, server) = (timers, audit, signIn, process.log, front.metrics)
        let (reports, series) = (serviceReports, series)
        await withDiscardingTaskGroup { group in
            group.addTask { await log.run() }
            group.addTask {
                await store.prepare()
                await store.reportTopicNames()
                await api.reportKeptGroups()
            }
            group.addTask { await access.revocations.run() }
            group.addTask { await signIn.run() }
            group.addTask { await access.userFacts.run() }
            group.addTask { await access.noteUses(store.store) }
            group.addTask { await api.noteIntegrations(store: store, jobs: jobs) }
            group.addTask { await feed.run() }
            group.addTask { await push.outbox.run() }
            group.addTask { await push.webhooks.run() }
            group.addTask { await store.measure() }
            group.addTask { await upkeep.run() }
            group.addTask { await timers.run() }
            group.addTask { await heartbeat.run(counting: jobs) }
            group.addTask { await audit.run() }
            group.addTask { await server.run() }
            group.addTask { await reports.run() }
            if let series { group.addTask { await series.run() } }
            if let cluster { group.addTask { await cluster.run() } }
        }
    }

    /// How much is logged.
    package var logControl: LogControl { process.log.control }

    private var serviceReports: ServiceReports {
        let (health, server, store) = (front.health, front.server, store.store)
        return ServiceReports(
            notifier: notifier,
            time: process.time,
            isLive: { health.isLive },
            status: { "\(server.connectionCount) connections, \(store.statistics.waitingWrites) writes waiting" }
        )
    }

    /// Reads the settings and their files anew, and takes them as a whole or not at all.
    @discardableResult
    package func reload() async -> ReloadOutcome {
        await Self.reload(reloader, notifier, audit, api)
    }

    private static func reload(
        _ reloader: Reloader,
        _ notifier: ServiceNotifier,
        _ audit: ServerAudit,
        _ api: APIPart
    ) async -> ReloadOutcome {
        notifier.reloading()
        let outcome = await reloader.reload()
        notifier.ready()
        await audit.note(outcome)
        if outcome.result == .applied { await api.reportKeptGroups() }
        return outcome
    }

    /// Waits so long, or until somebody asks for the stop once more.
    private func drain(for seconds: Double) async {
        await withTaskGroup { [stops] group in
            group.addTask { try? await Task.sleep(for: .seconds(seconds)) }
            group.addTask { for await _ in stops { return } }
            await group.next()
            group.cancelAll()
        }
    }

    /// Stops in order: not ready, for so many seconds more new connections; then none, and no
    /// claims; requests in flight end, sockets are told, pushes under way are awaited; then the
    /// database is closed, and the admin listener.
    ///
    /// The order is by hand because the `ServiceGroup` of swift-service-lifecycle stops services
    /// one by one, where here claims end before requests do, and pushes under way after both. It
    /// also ends on SIGHUP, which reloads here, and drops a second SIGTERM, which has to end the
    /// process.
    package func stop(drainSeconds: Double = 0) async {
        process.logger.info("stopping", metadata: ["event": "stopping"])
        admin.stalls.end()
        backups.stop()
        notifier.stopping()
        front.health.stop()
        front.server.drain()
        if drainSeconds > 0 {
            process.logger.notice(
                "draining",
                metadata: ["event": "draining", "seconds": .stringConvertible(drainSeconds)]
            )
            await drain(for: drainSeconds)
        }
        let grace = Int(process.settings.server.stopSeconds)
        process.data.database.giveUp(afterSeconds: grace + Self.databaseSeconds)
        push.outbox.stop()
        push.webhooks.stop()
        // Those who listen are told one after the other, and get events until then.
        await front.server.shutdown(graceSeconds: grace)
        api.feed.stop()
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
        await admin.close()
        process.log.writeFolded()
        process.logger.info("stopped", metadata: ["event": "stopped"])
    }
}
