import JSON
import TocsinAPI
import TocsinAuth
import TocsinCore
import TocsinSQLite
import TocsinStore

/// What `tocsin export` is asked for.
package struct ExportRequest: Sendable {
    /// nil: standard output.
    package var path: String?
    /// Whether a file of that name may go.
    package var replaces = false
    /// The token of the last chunk of an export that was broken off.
    package var token: String?
    /// How large a chunk of the dump may grow.
    package var limits = ChunkLimits()

    /// An export of everything to standard output.
    package init() {}
}

/// What `tocsin import` is asked for.
package struct ImportRequest: Sendable {
    /// The parts of one dump in order; `-` is standard input.
    package var paths = ["-"]
    /// Whether the database must be empty.
    package var mode = ImportMode.empty

    /// An import from standard input into an empty database.
    package init() {}
}

/// What long work is told and tells while it runs.
package struct MovingReport: Sendable {
    /// Asked between chunks; true ends the work, which can be taken up again.
    package var isStopped: @Sendable () -> Bool
    /// Told how far the work is.
    package var progress: @Sendable (MovingProgress) -> Void
    /// Told what the operator should know, in a sentence.
    package var warning: @Sendable (String) -> Void

    /// A report of these three closures.
    package init(
        isStopped: @escaping @Sendable () -> Bool = { false },
        progress: @escaping @Sendable (MovingProgress) -> Void = { _ in },
        warning: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        (self.isStopped, self.progress, self.warning) = (isStopped, progress, warning)
    }
}

extension OfflineStore {
    /// Writes all data at one moment as a dump, beside a running server.
    package static func export(
        _ settings: Settings,
        _ request: ExportRequest,
        _ report: MovingReport
    ) async throws(StartError) {
        try DataAccess(settings).requireDatabase()
        let (database, model) = (DataAccess(settings).database, try modelDigest(settings))
        var start: DumpToken?
        if let text = request.token {
            start = DumpToken(text: text)
            guard start != nil else {
                throw StartError("--after is not a token of a chunk. Copy it from the dump's last complete chunk.")
            }
        }
        do {
            try await withThread("export") { [start] () throws(StoreError) in
                try write(database, model: model, after: start, request, report)
            }
        } catch {
            throw StartError(error == .stopped ? "Stopped. The dump is not complete." : error.description)
        }
    }

    private static func write(
        _ database: any SQLDatabase,
        model: String,
        after start: DumpToken?,
        _ request: ExportRequest,
        _ report: MovingReport
    ) throws(StoreError) {
        let snapshot = try DataSnapshot(of: database)
        defer { snapshot.close() }
        let output = try DumpOutput(path: request.path, replaces: request.replaces)
        defer { output.close() }
        let time = SystemTime()
        let header = try DumpHeader(
            dump: SystemIdentifiers(time: time).makeID(),
            madeAt: time.now(),
            database: database.version,
            model: model,
            snapshot: snapshot
        )
        var export = DumpExport(snapshot: snapshot, header: header, limits: request.limits) {
            bytes throws(StoreError) in
            try output.write(bytes)
        }
        try export.run(after: start, isStopped: report.isStopped, report: report.progress)
        try output.finish()
    }

    /// Takes in a dump; answers how many rows of each table it has, or nil when
    /// all of it was here before.
    package static func `import`(
        _ settings: Settings,
        _ request: ImportRequest,
        _ report: MovingReport
    ) async throws(StartError) -> [String: Int]? {
        let data = DataAccess(settings)
        try data.makeFolder()
        let model = try modelDigest(settings)
        do {
            return try await withThread("import") { () throws(StoreError) in
                try read(data.database, model: model, request, report)
            }
        } catch {
            guard error != .stopped else {
                throw StartError("Stopped. What is here is whole; go on with `tocsin import --resume`.")
            }
            throw StartError(error.description)
        }
    }

    private static func read(
        _ database: any SQLDatabase,
        model: String,
        _ request: ImportRequest,
        _ report: MovingReport
    ) throws(StoreError) -> [String: Int]? {
        let now = SystemTime().now()
        let target = try DataTarget(database, at: now)
        defer { target.close() }
        var work = DumpImport(into: target, mode: request.mode, model: model, at: now)
        var ending = DumpImport.Ending.known
        for path in request.paths {
            var lines = try DumpLineReader(path: path)
            defer { lines.close() }
            ending = try work.run(&lines, isStopped: report.isStopped, report: report.progress)
            for warning in work.warnings { report.warning(warning) }
            if case .complete(let counts) = ending { return counts }
        }
        guard case .cutOff(let token) = ending else { return nil }
        let rest = token.isEmpty ? "tocsin export --output REST" : "tocsin export --after \(token) --output REST"
        throw .mismatch(
            reason:
                "The dump was cut off; its chunks up to here were taken in. Export the rest while nothing changes the data "
                + "(`\(rest)`), and import that with --resume; or take an empty database and a new dump."
        )
    }

    /// Tells whether two servers read rows alike: a digest of what their model schemas say.
    private static func modelDigest(_ settings: Settings) throws(StartError) -> String {
        try SchemaLoading.load(settings.server).modelDigest
    }
}
