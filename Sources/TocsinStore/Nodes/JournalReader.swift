import Synchronization
package import TocsinCore

/// Reads the journal on a thread and a connection of its own and tells this process what was
/// committed, by whichever node.
///
/// **Why no row is skipped.** Transactions become visible neither in the order of their numbers nor
/// of the rows' ids: one that took its number early may commit late. So the reader remembers the
/// whole snapshot of its last look. What is visible now and was not then is new, each row once. A
/// group became visible as a whole, and after every group that it had waited for. So the order of
/// ids is right within a look (`Journal`) and between looks.
///
/// Transaction numbers may be given twice: a server that crashed gives the numbers of lost
/// transactions again, and an older snapshot would count them as seen. Ids are never given twice,
/// for a row that was read had been flushed together with its sequence. So a row with a higher id
/// than any row read before is new too, whatever its transaction. A row that commits late with a
/// lower id is older than the crash, and the snapshot had its number. Every look asks both, because
/// a pooler may hide that the server was away.
///
/// It looks when it is rung, by this node's own commits or by the doorbell, and otherwise
/// every quarter of a second. So the doorbell may be away altogether. In a stream of large
/// groups one look serves some milliseconds (`DoorbellThrottle`). While the database is away
/// it tries again and again.
///
/// **While nobody here listens to records** this node's own commits ring nobody, and the next look
/// passes over them: only records wait for the journal (`Journal`). A first listener misses
/// nothing. It waits for a look that began after it asked (`looked`), is registered, and then rings
/// the reader. What was committed before it was registered is in the look that this ring begins, or
/// in one before; from then on each commit rings by itself. Other nodes' commits are looked at when
/// those nodes ring, whoever listens, for they include ended access.
package final class JournalReader: Sendable {
    /// What the thread waits for.
    ///
    /// `@unchecked`: the fields are touched only while `condition` is locked.
    private final class Inbox: @unchecked Sendable {
        let condition = Condition()
        var pace = DoorbellThrottle()
        var isClosed = false
        /// Whether the thread has ended, or never began.
        var isDone = true
        /// The look that begins next, or is under way.
        var look = 0
        var endWaiters: [CheckedContinuation<Void, Never>] = []
        var lookWaiters: [(look: Int, waiter: CheckedContinuation<Void, Never>)] = []
    }

    private let database: any SQLDatabase
    private let settings: JournalSettings
    private let inbox = Inbox()
    private let found = Mutex(JournalStatus())
    let journal: Journal
    let models: [String: ModelType]
    let listeners: JournalListeners
    /// The node's own clock.
    private let now: @Sendable () -> Timestamp
    private static let pauseMilliseconds = 250

    /// A reader that does nothing until `start`.
    package init(
        _ database: any SQLDatabase,
        journal: Journal,
        models: [ModelType],
        settings: JournalSettings = JournalSettings(),
        now: @escaping @Sendable () -> Timestamp,
        listeners: JournalListeners
    ) {
        self.database = database
        self.journal = journal
        self.models = Dictionary(models.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.settings = settings
        self.now = now
        self.listeners = listeners
    }

    /// How the reader gets on, for health and metrics.
    package var status: JournalStatus { found.withLock { $0 } }

    /// Says that there may be something to read; never waits.
    package func ring(_ haste: RingHaste = .atOnce) {
        inbox.condition.withLock {
            if inbox.pace.ring(haste) { inbox.condition.signal() }
        }
    }

    /// Says that this node has committed something, for those who listen here; never waits.
    package func ringForListeners(_ haste: RingHaste) {
        if listeners.isAnybodyHere() { ring(haste) }
    }

    /// Starts the thread, which reads until `stop`; false when the system has none to give.
    package func start() -> Bool {
        inbox.condition.withLock {
            inbox.isDone = false
            _ = inbox.pace.ring(.atOnce)
        }
        let isStarted = startThread("store-journal") { [self] in
            var cursor = JournalCursor()
            while isTimeToLook(pause: cursor.pauseMilliseconds) { look(&cursor) }
            cursor.close()
            finish()
        }
        if !isStarted { finish() }
        return isStarted
    }

    /// Returns once a look that began after this call has ended, well or not.
    package func looked() async {
        await withCheckedContinuation { waiter in
            let isOver = inbox.condition.withLock {
                if inbox.isClosed || inbox.isDone { return true }
                inbox.lookWaiters.append((inbox.look + 1, waiter))
                if inbox.pace.ring(.atOnce) { inbox.condition.signal() }
                return false
            }
            if isOver { waiter.resume() }
        }
    }

    /// Ends the thread; returns when its connection is closed.
    package func stop() async {
        close()
        await withCheckedContinuation { waiter in
            let isDone = inbox.condition.withLock {
                if !inbox.isDone { inbox.endWaiters.append(waiter) }
                return inbox.isDone
            }
            if isDone { waiter.resume() }
        }
    }

    private func close() {
        inbox.condition.withLock {
            inbox.isClosed = true
            inbox.condition.broadcast()
        }
    }
}

extension JournalReader {
    /// Waits for a ring, or until it is time to look without one; false when
    /// there is nothing more to do.
    private func isTimeToLook(pause: Int) -> Bool {
        inbox.condition.withLock {
            if pause > 0 {
                // After a failure the pause is kept, whoever rings: a ring wakes it once at most.
                if !inbox.isClosed { inbox.condition.wait(.milliseconds(pause)) }
            } else {
                waitForRing()
            }
            inbox.pace.answer(at: .now)
            inbox.look += 1
            return !inbox.isClosed
        }
    }

    private func waitForRing() {
        var now = ContinuousClock.now
        let end = now + .milliseconds(settings.pollMilliseconds)
        while !inbox.isClosed, !inbox.pace.isDue(at: now), now < end {
            inbox.condition.wait(min(end, inbox.pace.restEnd ?? end) - now)
            now = .now
        }
    }

    private var isClosed: Bool { inbox.condition.withLock { inbox.isClosed } }

    private func finish() {
        let waiters = inbox.condition.withLock {
            inbox.isDone = true
            let waiters = inbox.endWaiters + inbox.lookWaiters.map(\.waiter)
            (inbox.endWaiters, inbox.lookWaiters) = ([], [])
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private func look(_ cursor: inout JournalCursor) {
        do throws(StoreError) {
            try read(&cursor)
            cursor.pauseMilliseconds = 0
            let hadTrouble = found.withLock { status in
                defer { status.trouble = nil }
                status.looks += 1
                return status.trouble != nil
            }
            if hadTrouble { listeners.failed(nil) }
        } catch {
            cursor.close()
            cursor.pauseMilliseconds = Self.pauseMilliseconds
            let isNew = found.withLock { status in
                defer { status.trouble = error.sentence }
                return status.trouble == nil
            }
            if isNew { listeners.failed(error) }
        }
        let waiters = inbox.condition.withLock {
            let current = inbox.look
            let due = inbox.lookWaiters.filter { $0.look <= current }
            inbox.lookWaiters.removeAll { $0.look <= current }
            return due
        }
        for waiter in waiters { waiter.waiter.resume() }
    }

    /// One look: everything new, in pages of one snapshot; few looks find more than a page.
    private func read(_ cursor: inout JournalCursor) throws(StoreError) {
        journal.keepsRecords = listeners.isAnybodyHere()
        let session = try cursor.session(database)
        guard let since = try begin(session, &cursor) else { return }
        try session.connection.run(session.dialect.beginReading)
        let asked = now()
        var page = try session.lookInJournal(since: since, lastID: cursor.lastID, limit: settings.pageSize)
        let (snapshot, moment) = (page.snapshot, page.moment)
        var (lastID, pages) = (cursor.lastID, 0)
        listeners.measured(.init(asked: asked, database: moment, answered: now()))
        try checkGap(page, cursor)
        while let last = page.rows.last {
            note(page, lookingFor: now().milliseconds - asked.milliseconds)
            try publish(page.rows, session, &cursor)
            lastID = max(lastID, last.id)
            // Streams end with this run of the server: nobody waits for what is not read yet.
            if isClosed { return cursor.close() }
            if page.rows.count < settings.pageSize { break }
            if pages == 0 { try session.lookFurther(since: since, lastID: cursor.lastID, behind: settings.pageSize) }
            pages += 1
            page = try session.journalPage(limit: settings.pageSize)
        }
        try notePeers(session, at: moment, &cursor)
        try session.connection.run("ROLLBACK")
        cursor.snapshot = snapshot
        cursor.lastID = lastID
        cursor.lookedAt = moment
        cursor.published.removeAll(keepingCapacity: true)
        found.withLock { [cursor] in $0.lookedAt = cursor.lookedAt }
    }

    /// The snapshot since which to read; nil when there was none, and this one is noted.
    private func begin(_ session: SQLSession, _ cursor: inout JournalCursor) throws(StoreError) -> String? {
        if let snapshot = cursor.snapshot, cursor.isChecked { return snapshot }
        let asked = now()
        let start = try session.journalStart()
        listeners.measured(.init(asked: asked, database: start.moment, answered: now()))
        defer {
            cursor.timeline = start.timeline
            cursor.isChecked = true
        }
        // A promoted standby may lack what the old server had told, and number anew.
        if let snapshot = cursor.snapshot, cursor.timeline == start.timeline { return snapshot }
        if cursor.snapshot != nil || cursor.hasFailed { listeners.lost() }
        cursor.snapshot = start.snapshot
        cursor.lastID = start.lastID
        cursor.lookedAt = start.moment
        found.withLock { $0.lookedAt = start.moment }
        return nil
    }

    /// Says so when rows may have been removed unread, or the database is not the one it was.
    private func checkGap(_ page: JournalPage, _ cursor: JournalCursor) throws(StoreError) {
        let away = cursor.lookedAt.map { page.moment.milliseconds - $0.milliseconds } ?? 0
        if page.isOlder || away > settings.keptMilliseconds / 2 { listeners.lost() }
    }

    private func note(_ page: JournalPage, lookingFor milliseconds: Int64) {
        let oldest = page.rows.map(\.madeAt.milliseconds).min() ?? page.moment.milliseconds
        found.withLock { status in
            status.rows += page.rows.count
            status.foundAt = page.moment
            status.lagMilliseconds = max(0, page.moment.milliseconds + milliseconds - oldest)
        }
    }

    /// Now and then looks which other nodes there are.
    private func notePeers(
        _ session: SQLSession,
        at moment: Timestamp,
        _ cursor: inout JournalCursor
    ) throws(StoreError) {
        if let last = cursor.peersAskedAt, moment.milliseconds - last.milliseconds < 1000 { return }
        cursor.peersAskedAt = moment
        let peers = try session.peers(
            of: journal.instance,
            seenSince: moment.adding(seconds: -NodeEntry.lifeSeconds)
        )
        journal.tellsDeliveries = peers.wantDeliveries
        listeners.peers(peers)
    }
}
