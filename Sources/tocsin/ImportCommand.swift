import ArgumentParser
import TocsinServer

/// `tocsin import`: takes in what `tocsin export` wrote.
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Take in what `tocsin export` wrote, into a database of either kind.",
        discussion: """
            The database must be empty and its server stopped; no server starts on one that an import has only begun \
            to fill. Chunks are checked by count and checksum and committed with a note, so that an import that was \
            broken off goes on with `--resume`, and one that is complete changes nothing when it is repeated. Copy \
            `server.key` too: without it all tokens and cursors are void.

            EXAMPLES
              tocsin import tocsin.dump --data-dir /var/lib/tocsin
              zstd -dc tocsin.dump.zst | tocsin import --resume
              tocsin import part1.dump rest.dump

            EXIT STATUS
              0 done, 1 failed, 2 wrong use
            """
    )

    @Argument(help: "The dump, or its parts in order; - is standard input.")
    var files: [String] = ["-"]

    @Flag(help: "Go on with an import that was broken off.")
    var resume = false

    @Flag(help: "Add to data that is there; rows that are there already must be the same.")
    var merge = false

    @Flag(name: .shortAndLong, help: "Say nothing while it runs.")
    var quiet = false

    @OptionGroup var store: StoreOptions

    func validate() throws {
        if resume, merge {
            throw ValidationError("--resume and --merge: give one; what was begun goes on as it began.")
        }
    }

    func run() async throws {
        let settings = try SettingsLoading.load(flags: store.flags).settings
        var request = ImportRequest()
        request.paths = files
        request.mode = resume ? .resume : merge ? .merge : .empty
        let counts: [String: Int]?
        do {
            counts = try await OfflineStore.import(settings, request, MovingReport(isQuiet: quiet))
        } catch {
            throw CommandFailure(error.description)
        }
        guard !quiet else { return }
        guard let counts else { return StandardError.write("tocsin: all of this dump is here already.\n") }
        let rows = counts.values.reduce(0, +)
        StandardError.write("tocsin: complete: \(rows) rows in \(counts.count) tables, counted and checked.\n")
    }
}
