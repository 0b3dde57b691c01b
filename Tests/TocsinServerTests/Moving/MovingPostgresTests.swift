import Foundation
import JSON
import TestDatabases
import Testing
import TocsinCore
import TocsinServer
import TocsinStore

@Suite(
    "Moving data between the databases",
    .timeLimit(.minutes(5)),
    .enabled(if: PostgresServer.named != nil, "no PostgreSQL server was named")
)
struct MovingPostgresTests {
    /// A new PostgreSQL database; it goes with the last copy of the value.
    private func makeDatabase() throws -> TemporaryDatabase { try #require(PostgresServer.named).makeDatabase() }

    private func settings(_ scene: MovingScene, _ database: TemporaryDatabase) -> Settings {
        var settings = scene.settings("of-postgres")
        settings.server.database = .postgres(url: Secret(database.url))
        return settings
    }

    private func export(_ scene: MovingScene, _ database: TemporaryDatabase, to file: String) async throws {
        var request = ExportRequest()
        (request.path, request.replaces) = (scene.path(file), true)
        (request.limits.rows, request.limits.bytes) = (7, 4000)
        try await OfflineStore.export(settings(scene, database), request, MovingReport())
    }

    private func `import`(
        _ file: String,
        _ scene: MovingScene,
        into database: TemporaryDatabase,
        _ mode: ImportMode = .empty
    ) async throws -> [String: Int]? {
        var request = ImportRequest()
        (request.paths, request.mode) = ([scene.path(file)], mode)
        return try await OfflineStore.import(settings(scene, database), request, MovingReport())
    }

    /// Rows in any order, JSON inside of them with its white space left out: PostgreSQL writes it
    /// in its own way, and sorts nulls and bytes as SQLite does.
    private func comparable(_ lines: [String]) throws -> [String] {
        try MovedData.rows(lines).map { line in
            let values = try JSONParser.parse(line).arrayValue ?? []
            return values.map { value in
                guard let text = value.stringValue, text.hasPrefix("{"), let inner = try? JSONParser.parse(text) else {
                    return value.serializedString()
                }
                return inner.serializedString()
            }.joined(separator: ",")
        }
    }

    @Test("from SQLite to PostgreSQL and back all rows are the same, in the same order", arguments: [21, 22])
    func roundTrip(seed: UInt64) async throws {
        let scene = try MovingScene()
        let database = try makeDatabase()
        try scene.fill("source", seed: seed)
        let first = try await scene.export("source", to: "first")
        let counts = try await `import`("first", scene, into: database)
        #expect(counts?.values.reduce(0, +) == 40 * MovedTable.all.count)
        try await export(scene, database, to: "second")
        #expect(try comparable(scene.lines(of: "second")) == comparable(first), "seed \(seed)")
        _ = try await scene.import("second", into: "target")
        #expect(try await comparable(scene.rows("target")) == comparable(first), "seed \(seed)")
    }

    @Test("an import into PostgreSQL that was cut off goes on with the whole dump, and again changes nothing")
    func resuming() async throws {
        let scene = try MovingScene()
        let database = try makeDatabase()
        try scene.fill("source", seed: 23)
        let lines = try await scene.export("source", to: "dump")
        try scene.write(lines.prefix(lines.count / 2).map { $0 + "\n" }.joined(), to: "half")
        do {
            _ = try await `import`("half", scene, into: database)
            Issue.record("half a dump was taken for a whole")
        } catch {
            #expect("\(error)".contains("cut off"), "\(error)")
        }
        _ = try await `import`("dump", scene, into: database, .resume)
        #expect(try await `import`("dump", scene, into: database) == nil)
        try await export(scene, database, to: "second")
        #expect(try comparable(scene.lines(of: "second")) == comparable(lines))
    }

    @Test("an export from PostgreSQL is of one moment, and those who write meanwhile do not wait for it")
    func oneMoment() async throws {
        let scene = try MovingScene()
        let database = try makeDatabase()
        try MovedData.fill(database, seed: 24, rows: 40)
        try await export(scene, database, to: "before")
        let failures = Failures()
        var request = ExportRequest()
        (request.path, request.limits.rows) = (scene.path("dump"), 7)
        let report = MovingReport(progress: { _ in
            do {
                let writer = try database.connect(.tool)
                defer { writer.close() }
                try writer.run("UPDATE topics SET name = name || 'x', last_number = last_number / 2 + 1")
                try writer.run("DELETE FROM muted_users")
            } catch {
                failures.note("\(error)")
            }
        })
        try await OfflineStore.export(settings(scene, database), request, report)
        #expect(failures.all == [])
        #expect(try MovedData.rows(scene.lines(of: "dump")) == MovedData.rows(scene.lines(of: "before")))
    }
}
