import NIOCore

/// When a connection's lifetime and the tokens behind it and its operations end.
///
/// Confined to its event loop.
final class TokenExpiries {
    /// What has an end.
    enum Subject: Hashable {
        /// The connection itself, whoever it serves.
        case lifetime
        /// The token of the connection's caller.
        case connection
        /// The token that an operation brought.
        case operation(Int)
    }

    private let deadline: ConnectionDeadline
    private let now: @Sendable () -> Int64
    private var watched: [Subject: (end: Int64, ended: () -> Void)] = [:]

    /// Nothing is watched yet; `now` gives Unix milliseconds.
    init(_ loop: any EventLoop, now: @escaping @Sendable () -> Int64) {
        deadline = ConnectionDeadline(loop)
        self.now = now
    }

    /// Calls `ended` at that time, at once if it is over, in place of an earlier one's.
    func watch(_ subject: Subject, until end: Int64, _ ended: @escaping () -> Void) {
        watched[subject] = (end, ended)
        look()
    }

    /// Watches it no longer.
    func forget(_ subject: Subject) {
        if !watched.isEmpty { watched[subject] = nil }
    }

    /// Watches nothing any more.
    func stop() {
        watched = [:]
        deadline.cancel()
    }

    /// Looks again every now and then, as the wall clock may be set.
    private func look() {
        let time = now()
        for (subject, token) in watched where token.end <= time {
            guard watched.removeValue(forKey: subject) != nil else { continue }
            token.ended()
        }
        guard let next = watched.values.map(\.end).min() else { return deadline.clear() }
        deadline.set(milliseconds: Int(max(1, min(next - time, 3_600_000)))) { [self] in look() }
    }
}

/// Ends operations that are not answered in time; all have the same time, so that one timer
/// serves them in their order.
///
/// Confined to its event loop.
final class ExecutionLimit {
    private let milliseconds: Int
    private let deadline: ConnectionDeadline
    private var waiting = CircularBuffer<(due: NIODeadline, number: Int)>()
    private var expired: (Int) -> Void = { _ in }

    init(_ loop: any EventLoop, milliseconds: Int) {
        self.milliseconds = milliseconds
        deadline = ConnectionDeadline(loop)
    }

    /// Calls `expired` with the number when the time is over, whatever has become of the operation.
    func add(_ number: Int, _ expired: @escaping (Int) -> Void) {
        self.expired = expired
        let wasEmpty = waiting.isEmpty
        waiting.append((.now() + .milliseconds(Int64(milliseconds)), number))
        if wasEmpty { schedule() }
    }

    /// Forgets all.
    func stop() {
        waiting.removeAll()
        expired = { _ in }
        deadline.cancel()
    }

    private func schedule() {
        guard let first = waiting.first else { return }
        let left = (first.due - .now()).nanoseconds / 1_000_000
        deadline.set(milliseconds: Int(max(1, left))) { [self] in look() }
    }

    private func look() {
        let now = NIODeadline.now()
        while let first = waiting.first, first.due <= now {
            waiting.removeFirst()
            expired(first.number)
        }
        schedule()
    }
}
