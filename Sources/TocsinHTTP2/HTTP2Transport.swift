package import Metrics
package import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
package import TocsinPush

/// Sends pushes over kept HTTP/2 connections, many streams at once within each peer's limits.
///
/// Each pool lives on one event loop with its connections; a batch costs one wake-up of that loop.
package final class HTTP2Transport: PushTransport, MetricSource {
    fileprivate struct State {
        var pools: [PushPool: PoolEntry] = [:]
        /// Pools that were closed and still have requests under way, by their number.
        var retiring: [Int: PoolEntry] = [:]
        var lastNumber = 0
        var isShutDown = false
        /// Resumed when the last retiring pool is done.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    fileprivate struct PoolEntry: Sendable {
        let number: Int
        let loop: any EventLoop
        let box: NIOLoopBoundBox<ConnectionPool>

        func perform(_ act: @escaping @Sendable (ConnectionPool) -> Void) {
            loop.execute { act(box.value) }
        }
    }

    private let group: any EventLoopGroup
    private let settings: HTTP2Settings
    private let tls: NIOSSLContext
    private let counter = ConnectionCounter()
    private let state = Mutex(State())

    /// A transport on the given loops; it opens nothing before the first send.
    package init(group: any EventLoopGroup, settings: HTTP2Settings = HTTP2Settings()) throws(HTTP2SettingsError) {
        self.group = group
        self.settings = settings
        tls = try TLSSetup.context(authorityPath: settings.authorityPath)
    }

    /// What the connections have gone through so far.
    package var counts: HTTP2Counts { counter.counts }

    /// The figures of now.
    package var families: [MetricFamily] { counter.families }

    /// Sends a batch; see `PushTransport`.
    ///
    /// If the task is cancelled, requests that have not left are answered
    /// `notProcessed`; those that have are awaited until their time is up.
    package func send(
        _ batch: PushBatch,
        completed: @escaping @Sendable (_ index: Int, _ answer: PushAnswer) -> Void
    ) async {
        guard !batch.requests.isEmpty else { return }
        guard let origin = Origin(batch.pool.origin) else {
            let reason = "\(batch.pool.origin) is no origin of the form https://host:port"
            for index in batch.requests.indices { completed(index, .unreachable(reason: reason)) }
            return
        }
        guard let pool = pool(batch.pool, origin) else {
            for index in batch.requests.indices { completed(index, .notProcessed(reason: "pushes are shut down")) }
            return
        }
        let handle = BatchHandle()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                pool.perform { pool in
                    let run = BatchRun(batch, origin: origin, handle: handle, completed: completed) {
                        continuation.resume()
                    }
                    pool.enqueue(run)
                }
            }
        } onCancel: {
            handle.isCancelled.withLock { $0 = true }
            pool.perform { $0.cancel(handle) }
        }
    }

    /// Lets the pool's connections end after the answers they still owe; the
    /// next send opens new ones.
    package func close(_ pool: PushPool) async {
        let entry = state.withLock { $0.retire(pool) }
        entry?.perform { $0.retire() }
    }

    /// Lets all connections end after the answers they still owe, because credentials have changed;
    /// the next sends open new ones.
    package func renew() {
        let entries = state.withLock { state in Array(state.pools.keys).compactMap { state.retire($0) } }
        for entry in entries { entry.perform { $0.retire() } }
    }

    /// Ends all connections after the answers they still owe, and by force after `graceSeconds`.
    ///
    /// Further sends are refused.
    package func shutdown(graceSeconds: Double = 5) async {
        let entries = state.withLock { state in
            state.isShutDown = true
            for key in Array(state.pools.keys) { _ = state.retire(key) }
            return Array(state.retiring.values)
        }
        for entry in entries {
            entry.perform { pool in
                pool.retire()
                pool.cut(afterSeconds: graceSeconds, reason: "pushes were shut down")
            }
        }
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                guard !state.retiring.isEmpty else { return true }
                state.waiters.append(continuation)
                return false
            }
            if isDone { continuation.resume() }
        }
    }

    private func pool(_ key: PushPool, _ origin: Origin) -> PoolEntry? {
        state.withLock { state -> PoolEntry? in
            guard !state.isShutDown else { return nil }
            if let entry = state.pools[key] { return entry }
            state.lastNumber += 1
            let entry = makeEntry(key, origin, number: state.lastNumber)
            state.pools[key] = entry
            return entry
        }
    }

    private func makeEntry(_ key: PushPool, _ origin: Origin, number: Int) -> PoolEntry {
        let loop = group.next()
        let dependencies = ConnectionPool.Dependencies(settings: settings, loop: loop, tls: tls, counter: counter)
        let box = NIOLoopBoundBox.makeBoxSendingValue(
            ConnectionPool(key: key, origin: origin, dependencies: dependencies) { [weak self] in
                self?.poolIsDone(number)
            },
            eventLoop: loop
        )
        return PoolEntry(number: number, loop: loop, box: box)
    }

    private func poolIsDone(_ number: Int) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.retiring[number] = nil
            guard state.retiring.isEmpty else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

extension HTTP2Transport.State {
    /// Moves a pool from those in use to those that end.
    fileprivate mutating func retire(_ key: PushPool) -> HTTP2Transport.PoolEntry? {
        guard let entry = pools.removeValue(forKey: key) else { return nil }
        retiring[entry.number] = entry
        return entry
    }
}

/// A batch on its way: hands out its requests in order and passes each answer on, once.
///
/// Confined to its pool's event loop.
final class BatchRun {
    let batch: PushBatch
    let block: HeaderBlock
    let handle: BatchHandle
    /// Ends the requests that take too long.
    var deadline: Scheduled<Void>?
    /// The first request no connection has taken yet.
    private(set) var next = 0
    private var unanswered: Int
    private let completed: @Sendable (Int, PushAnswer) -> Void
    private let finished: @Sendable () -> Void

    init(
        _ batch: PushBatch,
        origin: Origin,
        handle: BatchHandle,
        completed: @escaping @Sendable (Int, PushAnswer) -> Void,
        finished: @escaping @Sendable () -> Void
    ) {
        self.batch = batch
        self.handle = handle
        self.completed = completed
        self.finished = finished
        block = HeaderBlock(origin, batch.sharedHeaders)
        unanswered = batch.requests.count
    }

    /// Requests no connection has taken yet.
    var waiting: Int { batch.requests.count - next }

    func takeNext() { next += 1 }

    func answer(_ index: Int, _ answer: PushAnswer) {
        completed(index, answer)
        unanswered -= 1
        if unanswered == 0 {
            deadline?.cancel()
            deadline = nil
            finished()
        }
    }

    /// Answers all requests that no connection has taken.
    func answerWaiting(_ answer: PushAnswer) {
        let indices = next..<batch.requests.count
        next = batch.requests.count
        for index in indices { self.answer(index, answer) }
    }
}

/// Names a run from outside its loop, and carries its cancellation there.
final class BatchHandle: Sendable {
    let isCancelled = Mutex(false)
}
