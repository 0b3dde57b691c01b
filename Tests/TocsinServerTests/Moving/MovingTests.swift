import Foundation
import JSON
import Synchronization
import Testing
import TocsinCore
import TocsinSQLite
import TocsinServer
import TocsinStore

/// What a dump brings is what was there, or nothing; these tests move rows of every table.
@Suite("Moving data", .timeLimit(.minutes(5)))
struct MovingTests {
    /// The reason why the body fails.
    private func reason(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("what is exported, imported and exported again is the same, in every table", arguments: [1, 2, 3])
    func roundTrip(seed: UInt64) async throws {
        let scene = try MovingScene()
        try scene.fill("source", seed: seed)
        let dump = try await scene.export("source", to: "dump")
        let counts = try await scene.import("dump", into: "target")
        #expect(counts == Dictionary(uniqueKeysWithValues: MovedTable.all.map { ($0.name, 40) }))
        #expect(try await scene.rows("target") == MovedData.rows(dump), "seed \(seed)")
    }

    @Test("chunks keep to their limits, and none is empty")
    func chunks() async throws {
        let scene = try MovingScene()
        try scene.fill("source", seed: 4)
        let lines = try await scene.export("source", to: "dump")
        var rows = 0
        for line in lines.dropFirst().dropLast() {
            if line.hasPrefix("[") {
                rows += 1
            } else {
                let end = try JSONParser.parse(line)
                #expect(end["rows"] == .int(Int64(rows)))
                #expect((1...7).contains(rows))
                rows = 0
            }
        }
        #expect(rows == 0)
    }

    @Test("a dump that is imported again changes nothing and says so")
    func repeated() async throws {
        let scene = try MovingScene()
        try scene.fill("source", seed: 5)
        _ = try await scene.export("source", to: "dump")
        _ = try await scene.import("dump", into: "target")
        #expect(try await scene.import("dump", into: "target") == nil)
        #expect(try await scene.import("dump", into: "target", .resume) == nil)
        #expect(try await scene.rows("target") == scene.rows("source"))
    }

    @Test("an import that is stopped after any chunk goes on behind it, and only when it is told to")
    func resuming() async throws {
        let scene = try MovingScene()
        try scene.fill("source", seed: 6)
        _ = try await scene.export("source", to: "dump")
        let expected = try await scene.rows("source")
        for chunk in [1, 2, 17, 60] {
            let seen = Mutex(0)
            let report = MovingReport(isStopped: {
                seen.withLock { seen in
                    seen += 1
                    return seen == chunk
                }
            })
            let name = "target-\(chunk)"
            let stopped = await reason { _ = try await scene.import(["dump"], into: name, .empty, report) }
            #expect(stopped?.contains("--resume") == true, "\(stopped ?? "")")
            let again = await reason { _ = try await scene.import("dump", into: name) }
            #expect(again?.contains("up to chunk \(chunk)") == true, "\(again ?? "")")
            _ = try await scene.import("dump", into: name, .resume)
            #expect(try await scene.rows(name) == expected)
        }
    }

    @Test("a dump that was cut off anywhere is taken in as far as it goes, and its rest completes it")
    func cutOff() async throws {
        let scene = try MovingScene()
        try scene.fill("source", seed: 7)
        let whole = try await scene.export("source", to: "dump").joined(separator: "\n") + "\n"
        let expected = try await scene.rows("source")
        var random = Numbers(state: 7)
        let header = try #require(whole.utf8.firstIndex(of: UInt8(ascii: "\n")))
        let begin = whole.utf8.distance(from: whole.startIndex, to: header) + 1
        for round in 0..<12 {
            let end = begin + Int(random.next() % UInt64(whole.utf8.count - begin))
            try scene.write(String(decoding: whole.utf8.prefix(end), as: UTF8.self), to: "part")
            let name = "target-\(round)"
            let cut = try #require(await reason { _ = try await scene.import("part", into: name) })
            #expect(cut.contains("cut off"), "at byte \(end): \(cut)")
            guard let token = cut.split(separator: " ").drop(while: { $0 != "--after" }).dropFirst().first else {
                // Nothing of it is here: its whole is imported as one that was begun.
                _ = try await scene.import("dump", into: name, .resume)
                #expect(try await scene.rows(name) == expected)
                continue
            }
            _ = try await scene.export("source", to: "rest", after: String(token))
            _ = try await scene.import("rest", into: name, .resume)
            #expect(try await scene.rows(name) == expected, "cut at byte \(end)")
            _ = try await scene.import("part", "rest", into: name + "-both")
            #expect(try await scene.rows(name + "-both") == expected, "cut at byte \(end)")
        }
    }

    /// What may be wrong with a dump, and what is said of it.
    private static let damages: [(name: String, reason: String, damage: @Sendable ([String]) -> [String])] = [
        ("a letter of a row is another", "checksum", { $0.map { $0.replacing("users-3-", with: "users-4x-") } }),
        ("a row is missing", "checksum", { lines in lines.enumerated().filter { $0.offset != 5 }.map(\.element) }),
        ("a row stands twice", "checksum", { Array($0.prefix(3) + $0.dropFirst(2)) }),
        ("a chunk is missing", "is due", { withoutChunk($0, 3) }),
        ("the first chunk is missing", "is due", { withoutChunk($0, 1) }),
        ("the chunk at the end is missing", "says", { withoutChunk($0, $0.count { $0.hasPrefix("{\"chunk\"") }) }),
        (
            "a chunk stands twice", "is due",
            { chunk($0, 2).isEmpty ? $0 : Array($0.prefix(9)) + chunk($0, 1) + $0.dropFirst(9) }
        ),
        (
            "its end counts other rows", "says",
            { $0.map { $0.replacing("\"end\":true,\"chunks\":", with: "\"end\":true,\"chunks\":1") } }
        ),
        ("a line is no JSON", "no JSON", { $0.dropLast() + ["{"] }),
        ("a line is something else", "no line", { $0.dropLast() + ["{\"a\":1}"] }),
        ("the first line is missing", "no dump", { Array($0.dropFirst()) }),
        (
            "it is of another migration", "migration",
            { $0.map { $0.replacing("\"migration\":", with: "\"migration\":9") } }
        ),
        (
            "it has a table more", "does not know",
            { $0.map { $0.replacing("\"tables\":{", with: "\"tables\":{\"more\":{},") } }
        ),
        ("a table has other columns", "other columns", { $0.map { $0.replacing("\"arn\":\"text\",", with: "") } }),
        ("it is empty", "empty", { _ in [] }),
    ]

    private static func chunk(_ lines: [String], _ number: Int) -> [String] {
        let ends = lines.indices.filter { lines[$0].hasPrefix("{\"chunk\"") }
        let start = number == 1 ? 1 : ends[number - 2] + 1
        return Array(lines[start...ends[number - 1]])
    }

    private static func withoutChunk(_ lines: [String], _ number: Int) -> [String] {
        let removed = chunk(lines, number)
        let start = lines.firstIndex(of: removed[0]) ?? 0
        return Array(lines[..<start] + lines[(start + removed.count)...])
    }

    @Test("a dump in which anything is wrong is refused with a sentence", arguments: damages.indices)
    func damaged(index: Int) async throws {
        let (name, expected, damage) = Self.damages[index]
        let scene = try MovingScene()
        try scene.fill("source", seed: 8)
        let lines = damage(try await scene.export("source", to: "dump"))
        try scene.write(lines.map { $0 + "\n" }.joined(), to: "damaged")
        let said = await reason { _ = try await scene.import("damaged", into: "target") }
        #expect(said?.contains(expected) == true, "\(name): \(said ?? "it was taken")")
    }

    @Test("a dump of an older version is taken where all since was only added, and refused before that")
    func older() async throws {
        let scene = try MovingScene()
        try scene.fill("source", seed: 15)
        let lines = try await scene.export("source", to: "dump")
        let migrations = try Migration.embedded(for: .sqlite)
        let breaking = try #require(migrations.last { !$0.isAdditive })
        let newest = try #require(migrations.last)
        #expect(newest.number - breaking.number >= 2)
        for level in breaking.number..<newest.number {
            let dump = try OlderDump(of: lines, level: level)
            try scene.write(dump.lines.map { $0 + "\n" }.joined(), to: "old")
            let counts = try await scene.import("old", into: "level-\(level)")
            #expect(counts?.count == MovedTable.all.count - dump.missingTables.count)
            #expect(try await scene.rows("level-\(level)") == dump.rowsToday, "level \(level)")
        }
        let level = breaking.number - 1
        try scene.write(try OlderDump(of: lines, level: level).lines.map { $0 + "\n" }.joined(), to: "old")
        let said = await reason { _ = try await scene.import("old", into: "refused") }
        #expect(said?.contains("migration \(level)") == true, "\(said ?? "it was taken")")
    }

    @Test("a database that has data is refused; merging adds to it, and refuses rows that are there with other values")
    func merging() async throws {
        let scene = try MovingScene()
        try scene.fill("source", seed: 9)
        try scene.fill("other", seed: 9, rows: 12)
        try scene.fill("different", seed: 10, rows: 12)
        _ = try await scene.export("source", to: "dump")
        let refused = await reason { _ = try await scene.import("dump", into: "other") }
        #expect(refused?.contains("--merge") == true, "\(refused ?? "it was taken")")

        let before = try await scene.rows("different")
        let different = await reason { _ = try await scene.import("dump", into: "different", .merge) }
        #expect(different?.contains("other values") == true, "\(different ?? "it was taken")")
        #expect(try await scene.rows("different") == before)

        try scene.fill("same", seed: 9)
        _ = try await scene.import("dump", into: "same", .merge)
        #expect(try await scene.rows("same") == scene.rows("source"))
    }

    @Test("a second dump is refused while a first is only half here")
    func twoDumps() async throws {
        let scene = try MovingScene()
        try scene.fill("source", seed: 11)
        let lines = try await scene.export("source", to: "first")
        try scene.write(lines.prefix(20).map { $0 + "\n" }.joined(), to: "half")
        _ = await reason { _ = try await scene.import("half", into: "target") }
        _ = try await scene.export("source", to: "second")
        let said = await reason { _ = try await scene.import("second", into: "target", .resume) }
        #expect(said?.contains("in part") == true, "\(said ?? "it was taken")")
    }

    @Test("no server starts on a database that an import has only begun to fill")
    func halfImported() async throws {
        let scene = try MovingScene()
        try scene.fill("source", seed: 12)
        let lines = try await scene.export("source", to: "dump")
        try scene.write(lines.prefix(20).map { $0 + "\n" }.joined(), to: "half")
        _ = await reason { _ = try await scene.import("half", into: "target") }
        let settings = scene.settings("target")
        let said = await reason {
            _ = try await Application(
                settings: settings,
                log: LogDestination.standardError(settings, time: SystemTime()),
                rereading: { () throws(SettingsProblems) in throw SettingsProblems(problems: []) }
            )
        }
        #expect(said?.contains("tocsin import --resume") == true, "\(said ?? "it started")")
        #expect(try await scene.import("dump", into: "target", .resume) != nil)
    }

    @Test("an export is of one moment, and those who write meanwhile do not wait for it")
    func oneMoment() async throws {
        let scene = try MovingScene()
        try scene.fill("source", seed: 13)
        let before = try await scene.rows("source")
        let database = try scene.database("source")
        var request = ExportRequest()
        (request.path, request.limits.rows) = (scene.path("dump"), 7)
        let failures = Mutex([String]())
        let report = MovingReport(progress: { _ in
            do {
                let writer = try database.connect(.tool)
                defer { writer.close() }
                try writer.run("UPDATE topics SET name = name || 'x', last_number = last_number / 2 + 1")
                try writer.run("DELETE FROM muted_users")
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        })
        try await OfflineStore.export(scene.settings("source"), request, report)
        #expect(failures.withLock { $0 } == [])
        #expect(MovedData.rows(try scene.lines(of: "dump")) == before)
        #expect(try await scene.rows("source") != before)
    }

    @Test("a dump can be read by its owner alone, and replaces no file unless it is told to")
    func files() async throws {
        let scene = try MovingScene()
        try scene.fill("source", seed: 14)
        var request = ExportRequest()
        request.path = scene.path("dump")
        try await OfflineStore.export(scene.settings("source"), request, MovingReport())
        let attributes = try FileManager.default.attributesOfItem(atPath: scene.path("dump"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let (settings, again) = (scene.settings("source"), request)
        let said = await reason { try await OfflineStore.export(settings, again, MovingReport()) }
        #expect(said?.contains("--force") == true, "\(said ?? "it was replaced")")
    }
}
