import CPostgres
import Glibc
import TocsinCore

/// One connection that listens and notifies, used by one thread.
struct NotifyLine {
    private let link: PostgresLink
    /// As a literal's inside.
    private let instance: String
    private let name: String
    /// Whether a command is under way.
    private(set) var isBusy = false
    private static let channel = "tocsin"
    private static let answerMilliseconds = 5000
    /// The network's own keeping alive finds a dead server; this only bounds what a fault of ours could cost.
    private static let idleMilliseconds = 30_000

    init(_ link: PostgresLink, instance: String) throws(StoreError) {
        self.link = link
        self.instance = instance.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
        name = instance
        try link.send { PQexitPipelineMode($0) }
    }

    mutating func listen() throws(StoreError) {
        try link.send { PQsendQuery($0, "LISTEN \(Self.channel)") }
        let deadline = Deadline(afterMilliseconds: Self.answerMilliseconds)
        while let result = try link.nextResult(until: deadline) {
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw Self.failure(result) }
        }
    }

    /// Sends a notification; its end is seen by `attend`.
    mutating func notify() throws(StoreError) {
        try link.send { PQsendQuery($0, "NOTIFY \(Self.channel), '\(instance)'") }
        isBusy = true
    }

    /// Waits for the server or the wake-up; answers how many rings of others have come.
    mutating func attend(beside wakeup: Wakeup) throws(StoreError) -> Int {
        let flushed = PQflush(link.handle)
        guard flushed >= 0 else { throw link.loss() }
        var descriptors = [
            pollfd(fd: PQsocket(link.handle), events: Int16(flushed == 0 ? POLLIN : POLLIN | POLLOUT), revents: 0),
            pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let ready = poll(&descriptors, 2, Int32(isBusy ? Self.answerMilliseconds : Self.idleMilliseconds))
        if ready == 0, isBusy {
            throw .unavailable(reason: "the database does not answer", detail: "to a notification, in time")
        }
        if descriptors[1].revents != 0 { wakeup.clear() }
        guard PQconsumeInput(link.handle) == 1 else { throw link.loss() }
        try finishCommand()
        return try heard()
    }

    private mutating func finishCommand() throws(StoreError) {
        while isBusy, PQisBusy(link.handle) == 0 {
            guard let result = PQgetResult(link.handle) else {
                isBusy = false
                return
            }
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw Self.failure(result) }
        }
    }

    private func heard() throws(StoreError) -> Int {
        var count = 0
        while let notice = PQnotifies(link.handle) {
            defer { PQfreemem(notice) }
            if let sender = notice.pointee.extra, String(cString: sender) != name { count += 1 }
        }
        if link.isBroken { throw link.loss() }
        return count
    }

    private static func failure(_ result: OpaquePointer) -> StoreError {
        PostgresFailure(result, sql: "NOTIFY").error
    }
}
