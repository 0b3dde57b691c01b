import CPostgres
import Glibc
import TocsinCore

/// One connection that listens and notifies, used by one thread.
struct NotifyLine {
    private let link: PostgresLink
    /// As a literal's inside.
    private let instance: String
    private let name: String
    /// Until when the command that is under way must be answered.
    private var answerEnd: Deadline?
    /// Whether a command is under way.
    var isBusy: Bool { answerEnd != nil }
    /// Whether what another connection says is heard here: behind a pooler commands are
    /// answered and notifications lost.
    private(set) var isHeard = false
    /// Until when the probe that is under way must be heard.
    private var probeEnd: Deadline?
    private static let probe = "probe "
    private static let channel = "tocsin"
    private static let answerMilliseconds = 5000
    /// After so long without a word the line is tried: the network's keeping alive ends at
    /// whoever stands in between.
    private static let idleMilliseconds: Int32 = 30_000

    /// What other nodes have said.
    struct Words {
        var rings = 0
        /// Whether it was more than nothing: a ring, or the trial of a line
        /// that has begun to listen.
        var areThere = false
    }

    init(_ link: PostgresLink, instance: String) throws(StoreError) {
        self.link = link
        self.instance = instance.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
        name = instance
        try link.send { PQexitPipelineMode($0) }
    }

    /// Begins to listen; then `other`, a connection of its own, says something that must be heard.
    ///
    /// What this one said itself would come back even through a pooler that gives it
    /// another session each time.
    mutating func listen(tryingOutBy other: PostgresLink) throws(StoreError) {
        try perform("LISTEN \(Self.channel)")
        try NotifyLine(other, instance: name).perform(notification(Self.probe))
        probeEnd = Deadline(afterMilliseconds: Self.answerMilliseconds)
    }

    private func perform(_ sql: String) throws(StoreError) {
        try link.send { PQsendQuery($0, sql) }
        let deadline = Deadline(afterMilliseconds: Self.answerMilliseconds)
        while let result = try link.nextResult(until: deadline) {
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw Self.failure(result) }
        }
    }

    /// Sends a notification; its end is seen by `attend`.
    mutating func notify(_ prefix: String = "") throws(StoreError) {
        try link.send { PQsendQuery($0, notification(prefix)) }
        answerEnd = Deadline(afterMilliseconds: Self.answerMilliseconds)
    }

    private func notification(_ prefix: String) -> String { "NOTIFY \(Self.channel), '\(prefix)\(instance)'" }

    /// Waits for the server, the wake-up or the end of a rest; answers what others have said.
    mutating func attend(beside wakeup: Wakeup, untilRested rest: Int32?) throws(StoreError) -> Words {
        let flushed = PQflush(link.handle)
        guard flushed >= 0 else { throw link.loss() }
        var descriptors = [
            pollfd(fd: PQsocket(link.handle), events: Int16(flushed == 0 ? POLLIN : POLLIN | POLLOUT), revents: 0),
            pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let limits = [answerEnd?.remainingMilliseconds, probeEnd?.remainingMilliseconds, rest].compactMap { $0 }
        let ready = poll(&descriptors, 2, limits.min() ?? Self.idleMilliseconds)
        if ready == 0, limits.isEmpty {
            try notify(Self.probe)
            probeEnd = Deadline(afterMilliseconds: Self.answerMilliseconds)
        }
        if descriptors[1].revents != 0 { wakeup.clear() }
        guard PQconsumeInput(link.handle) == 1 else { throw link.loss() }
        try finishCommand()
        let heard = try heard()
        if answerEnd?.isOver == true {
            throw .unavailable(reason: "the database does not answer", detail: "to a notification, in time")
        }
        if probeEnd?.isOver == true {
            throw .unavailable(
                reason: "notifications do not come through; past a pooler, name the server itself in TOCSIN_DOORBELL"
            )
        }
        return heard
    }

    private mutating func finishCommand() throws(StoreError) {
        while isBusy, PQisBusy(link.handle) == 0 {
            guard let result = PQgetResult(link.handle) else {
                answerEnd = nil
                return
            }
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw Self.failure(result) }
        }
    }

    private mutating func heard() throws(StoreError) -> Words {
        var words = Words()
        while let notice = PQnotifies(link.handle) {
            defer { PQfreemem(notice) }
            guard let extra = notice.pointee.extra else { continue }
            let sender = String(cString: extra)
            if sender == Self.probe + name { (isHeard, probeEnd) = (true, nil) }
            if sender == name || sender == Self.probe + name { continue }
            words.areThere = true
            if !sender.hasPrefix(Self.probe) { words.rings += 1 }
        }
        if link.isBroken { throw link.loss() }
        return words
    }

    private static func failure(_ result: OpaquePointer) -> StoreError {
        PostgresFailure(result, sql: "NOTIFY").error
    }
}
