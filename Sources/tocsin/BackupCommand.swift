import ArgumentParser
import Synchronization
import TocsinSQLite
import TocsinServer

/// `tocsin backup`: copies the SQLite database beside a running server.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the SQLite database while the server runs.",
        discussion: """
            The copy is of one moment, checked as a whole, and appears under its name when it is complete. It is as \
            secret as the database. Copy `server.key` from the data directory too: tokens and cursors are signed with \
            it. To restore, stop the server, put the copy in the place of `tocsin.db`, remove `tocsin.db-wal` and \
            `tocsin.db-shm`, start it. PostgreSQL is backed up by its own tools (pg_dump, pg_basebackup).

            EXAMPLES
              tocsin backup /var/backups/tocsin-2026-11-21.db --data-dir /var/lib/tocsin

            EXIT STATUS
              0 done, 1 failed, 2 wrong use
            """
    )

    @Argument(help: "The file that the copy becomes.")
    var file: String

    @Flag(help: "Replace the file if it is there.")
    var force = false

    @Flag(name: .shortAndLong, help: "Say nothing while it runs.")
    var quiet = false

    @OptionGroup var store: StoreOptions

    func run() async throws {
        let settings = try SettingsLoading.load(flags: store.flags).settings
        let stop = StopFlag()
        let (progress, file) = (ProgressLines(isQuiet: quiet), file)
        do {
            try await OfflineStore.backup(settings, to: file, replaces: force) {
                stop.isRaised
            } report: { now in
                progress.write("\(now.copiedPages) of \(now.pages) pages", isLast: now.copiedPages == now.pages)
            }
        } catch {
            throw CommandFailure(error.description)
        }
        if !quiet { StandardError.write("tocsin: \(file) is complete and checked.\n") }
    }
}

/// Raised by the first SIGTERM or SIGINT; the second ends the process.
final class StopFlag: Sendable {
    private final class State: Sendable {
        let isRaised = Atomic(false)
    }

    private let state = State()
    private let watch: Task<Void, Never>

    init() {
        let state = state
        watch = Task {
            await StopSignals().first()
            if !Task.isCancelled { state.isRaised.store(true, ordering: .relaxed) }
        }
    }

    deinit { watch.cancel() }

    var isRaised: Bool { state.isRaised.load(ordering: .relaxed) }
}

/// Lines about long work on standard error, at most one a second but for the last.
final class ProgressLines: Sendable {
    private let isQuiet: Bool
    private let last = Mutex(ContinuousClock.now)

    init(isQuiet: Bool) {
        self.isQuiet = isQuiet
    }

    func write(_ text: String, isLast: Bool = false) {
        guard !isQuiet else { return }
        let isDue = last.withLock { last in
            guard isLast || ContinuousClock.now - last >= .seconds(1) else { return false }
            last = .now
            return true
        }
        if isDue { StandardError.write("tocsin: \(text)\n") }
    }
}
