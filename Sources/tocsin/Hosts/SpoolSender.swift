import FoundationEssentials
import Glibc
import TocsinClient

/// Sends what waits in a spool, in order, until all is sent, a server fails or the time is over.
///
/// One process sends at a time. A lane whose server fails keeps what it has; the other lanes go on.
struct SpoolSender {
    let spool: Spool
    /// The server of this run: what other users have written goes there and nowhere else, because
    /// it is sent with keys that they may not be able to read.
    let server: String
    /// When nothing more is tried.
    let deadline: ContinuousClock.Instant

    /// What became of a post.
    enum Fate {
        case sent
        case refused(reason: String)
        case waiting(reason: String)
    }

    /// What became of all that was looked at.
    struct Report {
        fileprivate(set) var fates: [String: Fate] = [:]
        /// Whether another process was sending.
        fileprivate(set) var isLeftToAnother = false

        /// The names of what was refused, with the reasons.
        var refused: [(name: String, reason: String)] {
            fates.compactMap { name, fate -> (name: String, reason: String)? in
                if case .refused(let reason) = fate { (name, reason) } else { nil }
            }.sorted { $0.name < $1.name }
        }
        /// Why some wait; empty: none does.
        var waitingReasons: [String] {
            let reasons = fates.values.compactMap { fate -> String? in
                if case .waiting(let reason) = fate { reason } else { nil }
            }
            return Set(reasons).sorted()
        }
    }

    /// Sends what there is, and what other processes have left to this one meanwhile.
    func send() async throws(Spool.Failure) -> Report {
        var pass = Pass(sender: self)
        repeat {
            guard let lock = try spool.takeSendersLock() else {
                pass.report.isLeftToAnother = true
                return pass.report
            }
            defer { withExtendedLifetime(lock) {} }
            while let name = try pass.next() { await pass.handle(name) }
            // Whoever added a post while the lock was held has left it here, so that the folder is
            // looked at once more without it.
        } while try pass.next() != nil
        pass.close()
        return pass.report
    }
}

/// One run through the spool.
private struct Pass {
    let sender: SpoolSender
    var report = SpoolSender.Report()
    private var queue: ArraySlice<String> = []
    private var posters: [SpoolEntry.Lane: SpoolPoster] = [:]
    private var stopped: [SpoolEntry.Lane: String] = [:]

    init(sender: SpoolSender) { self.sender = sender }

    /// The first that was not looked at; looks at the folder again when all are done.
    mutating func next() throws(Spool.Failure) -> String? {
        if queue.isEmpty { queue = try sender.spool.names().filter { report.fates[$0] == nil }[...] }
        return queue.first
    }

    mutating func handle(_ name: String) async {
        queue = queue.dropFirst()
        guard ContinuousClock.now < sender.deadline else {
            report.fates[name] = .waiting(reason: "the time for sending is over")
            return
        }
        switch sender.spool.read(name) {
        case .gone: report.fates[name] = .sent
        case .unreadable(let reason): report.fates[name] = .waiting(reason: "\(name) cannot be read: \(reason)")
        case .strange: refuse(name, "this is no file that tocsin has written")
        case .entry(let entry, let owner):
            guard isTrusted(entry, owner) else {
                report.fates[name] = .waiting(reason: "\(name) is another user's and goes to another server")
                return
            }
            await post(entry, name)
        }
    }

    private func isTrusted(_ entry: SpoolEntry, _ owner: UInt32) -> Bool {
        if owner == 0 || owner == geteuid() { return true }
        guard entry.server == sender.server else { return false }
        var status = stat()
        return entry.authorityFile.map { stat($0, &status) == 0 && status.st_uid == 0 } ?? true
    }

    private mutating func post(_ entry: SpoolEntry, _ name: String) async {
        if let reason = stopped[entry.lane] {
            report.fates[name] = .waiting(reason: reason)
            return
        }
        let fate: SpoolSender.Fate
        do throws(ClientError) {
            fate = try await poster(of: entry).post(entry, until: sender.deadline)
        } catch {
            fate = .waiting(reason: SpoolPoster.clause(error))
        }
        switch fate {
        case .sent:
            sender.spool.remove(name)
            report.fates[name] = .sent
        case .refused(let reason): refuse(name, reason)
        case .waiting(let reason):
            stopped[entry.lane] = reason
            report.fates[name] = fate
        }
    }

    private mutating func poster(of entry: SpoolEntry) throws(ClientError) -> SpoolPoster {
        if let poster = posters[entry.lane] { return poster }
        let poster = try SpoolPoster(entry)
        posters[entry.lane] = poster
        return poster
    }

    private mutating func refuse(_ name: String, _ reason: String) {
        do throws(Spool.Failure) {
            try sender.spool.refuse(name, reason: reason)
            report.fates[name] = .refused(reason: reason)
        } catch {
            guard case .unusable(let obstacle) = error else { return }
            report.fates[name] = .waiting(reason: "\(reason); \(obstacle)")
        }
    }

    func close() {
        for poster in posters.values { poster.close() }
    }
}
