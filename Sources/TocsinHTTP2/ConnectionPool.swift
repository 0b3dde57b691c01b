import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import TocsinPush

/// The connections of one origin and credential, and the requests that wait for them.
///
/// Confined to its event loop: connections, sessions and runs of a pool all live there.
final class ConnectionPool {
    let key: PushPool
    let origin: Origin
    let settings: HTTP2Settings
    let loop: any EventLoop
    private let tls: NIOSSLContext
    private let counter: ConnectionCounter
    private let retired: @Sendable () -> Void

    private var connections: [ClientConnection] = []
    private var waiting = CircularBuffer<BatchRun>()
    private var waitingCount = 0
    private var backoff: ConnectBackoff
    private var isConnecting = false
    private var isRetired = false
    private var isShutDown = false
    private var retry: Scheduled<Void>?

    /// Requests taken from one run before the next run has its turn.
    private static let turn = 64

    init(key: PushPool, origin: Origin, dependencies: Dependencies, retired: @escaping @Sendable () -> Void) {
        self.key = key
        self.origin = origin
        self.retired = retired
        settings = dependencies.settings
        loop = dependencies.loop
        tls = dependencies.tls
        counter = dependencies.counter
        backoff = ConnectBackoff(
            firstSeconds: dependencies.settings.firstBackoffSeconds,
            maximumSeconds: dependencies.settings.maximumBackoffSeconds
        )
    }

    /// What all pools of a transport share, and the loop this one got.
    struct Dependencies {
        var settings: HTTP2Settings
        var loop: any EventLoop
        var tls: NIOSSLContext
        var counter: ConnectionCounter
    }

    func enqueue(_ run: BatchRun) {
        guard !run.handle.isCancelled.withLock({ $0 }) else {
            return run.answerWaiting(.notProcessed(reason: "the send was cancelled"))
        }
        guard !isShutDown else { return run.answerWaiting(.notProcessed(reason: "pushes are shut down")) }
        guard waitingCount + run.waiting <= settings.maximumWaiting else {
            let reason = "\(waitingCount) requests wait already; the limit is \(settings.maximumWaiting)"
            return run.answerWaiting(.notProcessed(reason: reason))
        }
        if connections.isEmpty, !isConnecting, backoff.isOutOfReach, !backoff.isDue(.now()) {
            return run.answerWaiting(.unreachable(reason: pauseText))
        }
        waiting.append(run)
        waitingCount += run.waiting
        // Strong on purpose: a weak reference makes each later retain of the run slow, and the end
        // of the run cancels this.
        run.deadline = after(run.batch.timeoutSeconds) { [self] in expire(run) }
        pump()
        for connection in connections { connection.flush() }
    }

    /// Stops what of the run has not left; what has left is still answered.
    func cancel(_ handle: BatchHandle) {
        for run in waiting where run.handle === handle {
            dropWaiting(run, .notProcessed(reason: "the send was cancelled"))
        }
    }

    /// Hands waiting requests to connections with room; opens a connection if one is missing.
    ///
    /// Does not flush.
    func pump() {
        for connection in connections {
            while waitingCount > 0, fill(connection) {}
        }
        if waitingCount > 0 { connectIfUseful() }
        retireIfDone()
    }

    /// Takes one turn of requests; `false` when the connection takes no more.
    private func fill(_ connection: ClientConnection) -> Bool {
        let room = min(connection.room, Self.turn)
        guard room > 0, let run = waiting.popFirst() else { return false }
        var taken = 0
        while taken < room, run.waiting > 0, connection.submitNext(of: run) { taken += 1 }
        waitingCount -= taken
        if run.waiting > 0 { waiting.append(run) }
        if taken == 0 { connection.drain() }
        return taken > 0
    }

    private func expire(_ run: BatchRun) {
        let limit = "within \(run.batch.timeoutSeconds) s"
        let hasConnection = connections.contains { $0.state == .ready }
        dropWaiting(
            run,
            hasConnection
                ? .notProcessed(reason: "no stream was free \(limit)")
                : .unreachable(reason: "no connection \(limit). \(backoff.reason)")
        )
        for connection in connections { connection.expire(run, reason: "no answer \(limit)") }
        pump()
        for connection in connections { connection.flush() }
    }

    private func dropWaiting(_ run: BatchRun, _ answer: PushAnswer) {
        waitingCount -= run.waiting
        waiting.removeAll { $0 === run }
        run.answerWaiting(answer)
    }

    private func dropAllWaiting(_ answer: PushAnswer) {
        let runs = waiting
        waiting.removeAll()
        waitingCount = 0
        for run in runs { run.answerWaiting(answer) }
    }

    private var pauseText: String {
        let seconds = max(0, (backoff.notBefore - .now()).nanoseconds / 1_000_000_000)
        return "\(backoff.reason) (next try in \(seconds + 1) s)"
    }

    func after(_ seconds: Double, _ act: @escaping () -> Void) -> Scheduled<Void> {
        loop.assumeIsolated().scheduleTask(in: .nanoseconds(Int64(seconds * 1e9)), act)
    }
}

// Connections come and go.
extension ConnectionPool {
    private func connectIfUseful() {
        let usable = connections.filter { $0.state == .ready || $0.state == .opening }
        let limit = key.isSpare ? 1 : settings.maximumConnections
        guard !isConnecting, usable.count < limit, usable.allSatisfy(\.isFull) else { return }
        guard backoff.isDue(.now()) else {
            guard retry == nil else { return }
            let pause = Double((backoff.notBefore - .now()).nanoseconds) / 1e9
            retry = after(pause) { [self] in
                retry = nil
                pump()
            }
            return
        }
        connect()
    }

    private func connect() {
        isConnecting = true
        let bound = NIOLoopBound(self, eventLoop: loop)
        let tls = tls
        // SNI takes names only; for an address the certificate is checked
        // against the address itself.
        let isAddress = (try? SocketAddress(ipAddress: origin.host, port: origin.port)) != nil
        let serverName = isAddress ? nil : origin.host
        let isSecure = origin.isSecure
        let resolver = key.refusesPrivateAddresses ? PublicAddressResolver(loop: loop) : nil
        ClientBootstrap(group: loop)
            .resolver(resolver)
            .connectTimeout(.nanoseconds(Int64(settings.connectTimeoutSeconds * 1e9)))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.writeBufferWaterMark, value: .init(low: 65_536, high: 262_144))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if isSecure {
                        try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: serverName))
                    }
                    try pipeline.addHandler(ClientConnection(pool: bound.value))
                }
            }
            .connect(host: origin.host, port: origin.port)
            .assumeIsolated()
            .whenComplete { self.connected($0) }
    }

    private func connected(_ result: Result<any Channel, any Error>) {
        do {
            let pipeline = try result.get().pipeline.syncOperations
            let connection = try pipeline.handler(type: ClientConnection.self)
            if let reason = connection.adopt() { return failed(reason) }
            connections.append(connection)
        } catch {
            failed(ConnectFailure.text(error, origin, authorityPath: settings.authorityPath))
        }
    }

    private func failed(_ reason: String) {
        isConnecting = false
        backoff.fail(reason, at: .now())
        counter.failed(reason, of: key.service)
        if !connections.contains(where: { $0.state == .ready || $0.state == .draining }) {
            dropAllWaiting(.unreachable(reason: reason))
        }
        pump()
    }

    func isReady(_ connection: ClientConnection) {
        isConnecting = false
        counter.opened(of: key.service)
        if isRetired, waitingCount == 0 { connection.drain() }
    }

    func isGoingAway() { counter.count(.goaway, of: key.service) }

    func ended(_ connection: ClientConnection, wasOpening: Bool, reason: String) {
        connections.removeAll { $0 === connection }
        if wasOpening { return failed(reason) }
        counter.closed(of: key.service)
        if connection.session.responses > 0 {
            backoff.succeed()
        } else if connection.session.hasTakenRequests {
            backoff.endedUnanswered(reason, at: .now())
            if backoff.isOutOfReach, !connections.contains(where: { $0.state == .ready || $0.state == .draining }) {
                dropAllWaiting(.unreachable(reason: reason))
            }
        }
        pump()
    }

    /// Closes the connections after their last answers, and itself when nothing waits any more.
    func retire() {
        isRetired = true
        for connection in connections { connection.drain() }
        retireIfDone()
    }

    /// After the time, closes the connections that are left; requests on
    /// them are answered `unknown`.
    func cut(afterSeconds seconds: Double, reason: String) {
        isShutDown = true
        _ = after(seconds) { [weak self] in
            guard let self else { return }
            dropAllWaiting(.notProcessed(reason: reason))
            for connection in connections { connection.fail(reason) }
            retireIfDone()
        }
    }

    private func retireIfDone() {
        guard isRetired, waitingCount == 0, !isConnecting else { return }
        guard connections.isEmpty else {
            for connection in connections where connection.session.openStreams == 0 { connection.drain() }
            return
        }
        retry?.cancel()
        retry = nil
        retired()
    }
}
