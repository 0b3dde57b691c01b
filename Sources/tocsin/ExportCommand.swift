import ArgumentParser
import TocsinServer

/// `tocsin export`: all data as lines of JSON.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write all data as lines of JSON, while the server runs.",
        discussion: """
            What is written is the data at one moment; `tocsin import` takes it into an empty database of either kind. \
            It holds everything but `server.key`: texts, device tokens, password hashes. Keep it as you keep the \
            database. An export that was broken off is begun anew, or, while nothing changes the data, continued: \
            `--after` the token of the last complete chunk writes the rest. With --force the file that is there stays \
            until the new one is complete.

            EXAMPLES
              tocsin export --output tocsin.dump
              tocsin export | zstd > tocsin.dump.zst

            EXIT STATUS
              0 done, 1 failed, 2 wrong use
            """
    )

    @Option(name: .shortAndLong, help: "The file to write; standard output without.")
    var output: String?

    @Flag(help: "Replace the file if it is there.")
    var force = false

    @Option(help: "Write what comes behind the chunk with this token.")
    var after: String?

    @Flag(name: .shortAndLong, help: "Say nothing while it runs.")
    var quiet = false

    @OptionGroup var store: StoreOptions

    func run() async throws {
        let settings = try SettingsLoading.load(flags: store.flags).settings
        var request = ExportRequest()
        (request.path, request.replaces, request.token) = (output, force, after)
        do {
            try await OfflineStore.export(settings, request, MovingReport(isQuiet: quiet))
        } catch {
            throw CommandFailure(error.description)
        }
        if !quiet { StandardError.write("tocsin: the dump is complete.\n") }
    }
}

extension MovingReport {
    /// Tells on standard error, and stops at the first signal.
    init(isQuiet: Bool) {
        let (stop, lines) = (StopFlag(), ProgressLines(isQuiet: isQuiet))
        self.init {
            stop.isRaised
        } progress: { now in
            lines.write("\(now.table): \(now.rows) rows, \(now.allRows) in all")
        } warning: { text in
            StandardError.write("tocsin: warning: \(text)\n")
        }
    }
}
