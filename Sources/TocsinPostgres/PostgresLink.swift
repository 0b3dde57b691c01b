import CPostgres
import Glibc
import Metrics
import TocsinCore
import TocsinStore

/// A libpq connection in pipeline mode that never waits without end: every wait has a deadline.
///
/// Used by one thread. What was sent is answered in order: `nextResult` gives the results of
/// each command and then nil.
final class PostgresLink {
    /// libpq's connection; nil once it is closed.
    private(set) var handle: OpaquePointer?
    /// Whether the connection is of no more use.
    private(set) var isLost = false
    /// Why it was lost, in libpq's or the server's words; nil while it was not.
    private(set) var lossDetail: String?
    /// Warnings that the server has sent.
    var warningCount: Int { warnings.count }
    private let warnings = Warnings()
    private let state: PostgresState
    /// Whether it counts as open.
    private var isCounted = false
    /// How soon a wait notices that the server stops.
    private static let lookMilliseconds: Int32 = 500
    /// How soon a wait notices that nobody waits for its read any more.
    private static let cancellationLookMilliseconds: Int32 = 50
    /// How long a cancelled statement may take to say so.
    private static let cancelMilliseconds = 2000
    /// Ends the running statement when it is set.
    var cancellation: ReadCancellation?
    /// The request to end a statement that was sent last, until it is known to have been heard.
    private var cancelOrder: CancelOrder?

    /// Connects to a server; `keywords` are libpq's.
    init(
        _ keywords: [(name: String, value: String)],
        until deadline: Deadline,
        state: PostgresState
    ) throws(StoreError) {
        self.state = state
        handle = Self.started(keywords)
        do throws(StoreError) {
            try completeConnecting(until: deadline)
            // Without a receiver libpq writes the server's notices to the standard error.
            PQsetNoticeReceiver(
                handle,
                { PostgresLink.note($0, $1) },
                Unmanaged.passUnretained(warnings).toOpaque()
            )
            guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else { throw connectFailure() }
        } catch {
            state.metrics.connects[.failed].add()
            close()
            throw error
        }
        state.metrics.connects[.ok].add()
        state.metrics.open.add()
        isCounted = true
    }

    deinit { close() }

    func close() {
        if isCounted { state.metrics.open.add(-1) }
        isCounted = false
        if let handle { PQfinish(handle) }
        handle = nil
        isLost = true
    }

    func giveUp(_ detail: String) {
        isLost = true
        lossDetail = lossDetail ?? detail
    }

    /// Counts what libpq hands to its receiver of notices, on the thread that reads.
    private final class Warnings {
        var count = 0
    }

    /// Takes a notice of the server; only that it warned matters.
    private static func note(_ context: UnsafeMutableRawPointer?, _ result: OpaquePointer?) {
        // PG_DIAG_SEVERITY_NONLOCALIZED, which is a character in C.
        guard let context, let severity = PQresultErrorField(result, Int32(UInt8(ascii: "V"))),
            String(cString: severity) == "WARNING"
        else { return }
        Unmanaged<Warnings>.fromOpaque(context).takeUnretainedValue().count += 1
    }

    private static func started(_ keywords: [(name: String, value: String)]) -> OpaquePointer? {
        var names = keywords.map { strdup($0.name) }
        var values = keywords.map { strdup($0.value) }
        defer { for text in names + values { free(text) } }
        names.append(nil)
        values.append(nil)
        return names.map { UnsafePointer($0) }.withUnsafeBufferPointer { names in
            values.map { UnsafePointer($0) }.withUnsafeBufferPointer { values in
                PQconnectStartParams(names.baseAddress, values.baseAddress, 1)
            }
        }
    }

    private func completeConnecting(until deadline: Deadline) throws(StoreError) {
        guard handle != nil else { throw .unavailable(reason: "there is no memory left") }
        guard PQstatus(handle) != CONNECTION_BAD else { throw connectFailure() }
        var next = PGRES_POLLING_WRITING
        while next != PGRES_POLLING_OK {
            guard next != PGRES_POLLING_FAILED else { throw connectFailure() }
            guard wait(for: next == PGRES_POLLING_READING ? POLLIN : POLLOUT, until: deadline) else {
                throw .unavailable(
                    reason: "the database cannot be reached",
                    detail:
                        "the server did not answer in time; is its address right, and does a firewall let it through?"
                )
            }
            next = PQconnectPoll(handle)
        }
    }

    private func connectFailure() -> StoreError {
        .unavailable(reason: "the database cannot be reached", detail: message)
    }

    /// libpq's last words about the connection, on one line.
    private var message: String {
        let text = handle.map { String(cString: PQerrorMessage($0)) } ?? "the connection is closed"
        return text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// What a lost connection means to the store.
    func loss() -> StoreError {
        giveUp(message)
        return .unavailable(reason: "the connection to the database was lost", detail: message)
    }
}

extension PostgresLink {
    /// Counts what `body` waits for as one round trip, unless it fails.
    func roundTrip(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        let (metrics, start) = (state.metrics, ContinuousClock.now)
        metrics.busy.add()
        defer { metrics.busy.add(-1) }
        try body()
        metrics.roundTrips.record(.now - start)
    }

    /// Hands a command to libpq, which answers 1 when it took it.
    func send(_ command: (OpaquePointer) -> Int32) throws(StoreError) {
        guard !isLost, let handle else { throw loss() }
        guard command(handle) == 1 else { throw loss() }
    }

    /// Sends what waits to be sent, as far as the network takes it.
    func flush() {
        if PQflush(handle) < 0 { giveUp(message) }
    }

    /// The next result of the current command, to be cleared by the caller;
    /// nil at the command's end.
    ///
    /// At the deadline the statement is cancelled, if it may be; a server that does not even
    /// answer that has been lost.
    func nextResult(until deadline: Deadline, mayCancel: Bool = true) throws(StoreError) -> OpaquePointer? {
        var deadline = deadline
        var isCancelled = !mayCancel
        while true {
            let flushed = PQflush(handle)
            if PQisBusy(handle) == 0 { return PQgetResult(handle) }
            guard flushed >= 0, !isLost else { throw loss() }
            if wait(for: flushed == 0 ? POLLIN : POLLIN | POLLOUT, until: deadline) {
                guard PQconsumeInput(handle) == 1 else { throw loss() }
                continue
            }
            guard !isCancelled else {
                let detail =
                    "a statement was not answered in time, nor was its cancellation; look at the server and the network"
                giveUp(detail)
                throw .unavailable(reason: "the database does not answer", detail: detail)
            }
            isCancelled = true
            cancel()
            deadline = Deadline(afterMilliseconds: Self.cancelMilliseconds)
        }
    }

    /// Asks the server to end the running statement, and waits for nothing.
    private func cancel() {
        guard let cancel = PQgetCancel(handle) else { return }
        let order = CancelOrder(cancel)
        order.send()
        cancelOrder = order
    }

    /// Waits until no request to end a statement can reach a later one; gives the connection
    /// up where that takes long.
    func awaitCancel() {
        guard let order = cancelOrder else { return }
        cancelOrder = nil
        let deadline = Deadline(afterMilliseconds: Self.cancelMilliseconds)
        while !order.isDone {
            guard !deadline.isOver else { return giveUp("a request to end a statement was not heard in time") }
            poll(nil, 0, 2)
        }
    }

    /// Whether the running statement is to be ended, and has not been yet.
    private var isUnwanted: Bool { cancelOrder == nil && cancellation?.isSet == true }

    /// Whether the server closed the connection, as libpq has seen it.
    var isBroken: Bool { PQstatus(handle) == CONNECTION_BAD }

    private func wait(for events: Int32, until deadline: Deadline) -> Bool {
        let socket = PQsocket(handle)
        // libpq tells why at its next call.
        guard socket >= 0 else { return true }
        var descriptor = pollfd(fd: socket, events: Int16(events), revents: 0)
        while true {
            let limit = deadline.earlier(state.end)
            let look = cancellation == nil ? Self.lookMilliseconds : Self.cancellationLookMilliseconds
            let ready = poll(&descriptor, 1, min(look, limit.remainingMilliseconds))
            if ready > 0 { return true }
            if ready == 0 && (limit.isOver || isUnwanted) { return false }
            if ready < 0 && errno != EINTR { return true }
        }
    }
}
