import Logging
import TocsinHTTP

/// The listener for those who run the server, open from before the database is to after it.
struct AdminPart: Sendable {
    let listener: AdminListener
    let progress = StartProgress()
    let stalls = StallWatch()
    let node: NodeFacts
    private let logger: Logger

    /// Listens, and answers probes; throws where the settings name an address that cannot be had.
    ///
    /// A socket that the service manager has opened for it stands in place of these.
    init(_ process: ProcessPart, sockets: ActivatedSockets = ActivatedSockets()) async throws(StartError) {
        let settings = process.settings
        logger = process.logger
        node = NodeFacts(process)
        listener = AdminListener(token: settings.admin.token, time: process.time, logger: logger)
        listener.serve(Self.probes(stalls, progress, NotReadyRoute(progress: progress)))
        stalls.start()
        if let descriptor = sockets.take(name: "admin") {
            guard let path = ActivatedSockets.path(of: descriptor) else {
                throw StartError("The socket admin of the service manager must be one in the file system.")
            }
            try await open(.socket(path: path), on: descriptor, isDefault: false)
            return
        }
        if case .standard = settings.admin.listening { try process.data.makeFolder() }
        for address in settings.admin.listening.addresses(dataDirectory: settings.server.dataDirectory) {
            try await open(address, isDefault: settings.admin.listening == .standard)
        }
    }

    private func open(
        _ address: AdminAddress,
        on descriptor: Int32? = nil,
        isDefault: Bool
    ) async throws(StartError) {
        do {
            let opened = try await listener.open(address, on: descriptor)
            logger.info("the admin listener is open", metadata: ["event": "admin_listening", "address": "\(opened)"])
        } catch {
            guard isDefault else {
                await close()
                throw StartError("TOCSIN_ADMIN_LISTEN: \(error.description)")
            }
            // Nobody asked for it: a server beside another one, say, does without.
            logger.warning(
                "there is no admin listener; set TOCSIN_ADMIN_LISTEN to another address, or to off",
                metadata: ["event": "admin_not_listening", "reason": "\(error)"]
            )
        }
    }

    /// Serves all that needs the running server, beside what was served so far.
    func serve(_ routes: [any AdminRoute], health: Health) {
        let ready = ReadyRoute(health: health, progress: progress, node: node)
        listener.serve(Self.probes(stalls, progress, ready) + routes)
    }

    /// Watches event loops, which must beat every ten seconds; those that have ended need not.
    func watch(_ pulses: [LoopPulse], named name: String, while isThere: @escaping @Sendable () -> Bool) {
        for (index, pulse) in pulses.enumerated() {
            stalls.add("\(name) \(index + 1)", patienceSeconds: 10) { isThere() ? pulse.beats : nil }
        }
    }

    func close() async {
        stalls.end()
        await listener.close()
    }

    private static func probes(
        _ stalls: StallWatch,
        _ progress: StartProgress,
        _ ready: any AdminRoute
    ) -> [any AdminRoute] {
        [
            LiveRoute(path: "/livez", stalls: stalls), LiveRoute(path: "/healthz", stalls: stalls),
            StartupRoute(progress: progress), ready,
        ]
    }
}
