import Foundation
import JSON
import TestDatabases
import Testing
import TocsinClient
import TocsinSQLite
import TocsinStore

/// `tocsin backup`, `export` and `import` as people use them, and what is kept by
/// the settings of retention.
@Suite("Backup, moving and retention", .timeLimit(.minutes(5)))
struct MovingCommandTests {
    /// Numbers and titles of a topic's messages, by number.
    private func messages(_ installation: Installation, _ scene: Scene) async throws -> [Int64: String] {
        let query = """
            query($id: ID!) { getMessageByTopicIdAndCreatedAt(topicId: $id, limit: 1000) { items { number title } } }
            """
        let answer = try await installation.curl(query, ["id": .string(scene.topicID)], token: scene.ada)
        let items = answer["data"]?["getMessageByTopicIdAndCreatedAt"]?["items"]?.arrayValue
        guard let items else { throw HarnessFailure("No messages: \(answer.serializedString())") }
        var found: [Int64: String] = [:]
        for item in items { found[item["number"]?.intValue ?? 0] = item["title"]?.stringValue }
        return found
    }

    private func publish(_ numbers: ClosedRange<Int>, _ client: TocsinClient) async throws -> [String] {
        var cursors: [String] = []
        for number in numbers {
            cursors.append(try await client.publish(topic: "alerts", title: "message \(number)").cursor)
        }
        return cursors
    }

    private static func expected(_ numbers: ClosedRange<Int>) -> [Int64: String] {
        Dictionary(uniqueKeysWithValues: numbers.map { (Int64($0), "message \($0)") })
    }

    /// Puts other data in the place of the stopped server's.
    private func replaceData(_ installation: Installation, by folder: String) throws {
        let data = installation.folder + "/data"
        try FileManager.default.copyItem(atPath: data + "/server.key", toPath: folder + "/server.key")
        try FileManager.default.moveItem(atPath: data, toPath: data + "-before")
        try FileManager.default.moveItem(atPath: folder, toPath: data)
    }

    @Test("a backup made while messages are created holds the first of them, and a server goes on from it")
    func backup() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.ada)
            let copy = installation.folder + "/copy.db"
            async let creating = publish(1...60, client)
            try await installation.administer(["backup", copy])
            _ = try await creating
            #expect(try await installation.stopServer() == 0)
            let restored = installation.folder + "/restored"
            try FileManager.default.createDirectory(atPath: restored, withIntermediateDirectories: true)
            try FileManager.default.moveItem(atPath: copy, toPath: restored + "/tocsin.db")
            try replaceData(installation, by: restored)
            try await installation.startServerAgain()
            let kept = try await messages(installation, scene)
            #expect(kept == (kept.isEmpty ? [:] : Self.expected(1...kept.count)))
            let next = try await client.publish(topic: "alerts", title: "next")
            #expect(next.number == Int64(kept.count) + 1)
        }
    }

    @Test("what a running server has is exported, imported through kill -9, and served as before")
    func moving() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.ada)
            let cursors = try await publish(1...30, client)
            let dump = installation.folder + "/dump"
            try await installation.administer(["export", "--output", dump])
            let other = installation.folder + "/other"
            let served = try await installation.attempt(["import", dump])
            #expect(served.status == 1, "\(served)")
            let words = AnyDatabase.isPostgres ? "Servers run on this database" : "A server is running on this database"
            #expect(served.errors.hasPrefix("tocsin: \(words)") && served.errors.contains("Stop"), "\(served.errors)")
            try await killImport(installation, of: dump, into: other)

            let half = try await run(installation, ["import", dump, "--data-dir", other])
            #expect(half.status == 1)
            #expect(half.errors.contains("--resume"), "\(half.errors)")
            let serving = try await run(installation, ["serve", "--port", "0", "--data-dir", other])
            #expect(serving.status == 1)
            #expect(serving.errors.contains("tocsin import --resume"), "\(serving.errors)")
            let whole = try await run(installation, ["import", dump, "--resume", "--data-dir", other])
            #expect(whole.status == 0, "\(whole.errors)")

            #expect(try await installation.stopServer() == 0)
            try? FileManager.default.removeItem(atPath: other + "/server.key")
            try replaceData(installation, by: other)
            try await installation.startServerAgain()
            #expect(try await messages(installation, scene) == Self.expected(1...30))
            let rest = try await installation.tocsin(
                ["subscribe", "alerts", "--after", cursors[27], "--count", "2", "--json"],
                token: scene.ada
            )
            let numbers = try rest.output.split(separator: "\n").map { try JSONParser.parse(String($0))["number"] }
            #expect(numbers == [29, 30], "\(rest.errors)")
            #expect(try await client.publish(topic: "alerts", title: "next").number == 31)
        }
    }

    private func run(
        _ installation: Installation,
        _ arguments: [String]
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await TestBinary.run(arguments, folder: installation.folder)
    }

    /// Kills an import that has taken in some chunks and waits for more.
    private func killImport(_ installation: Installation, of dump: String, into folder: String) async throws {
        let pipe = installation.folder + "/pipe"
        guard mkfifo(pipe, 0o600) == 0 else { throw HarnessFailure("No pipe can be made.") }
        let process = try ChildProcess(
            try TestBinary.path(),
            ["import", pipe, "--data-dir", folder],
            environment: TestBinary.environment,
            folder: installation.folder
        )
        // Opened for both, so that neither side waits for the other.
        let descriptor = open(pipe, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        let lines = try String(contentsOfFile: dump, encoding: .utf8).split(separator: "\n")
        let ends = lines.indices.filter { lines[$0].hasPrefix("{\"chunk\"") }
        let part = Array(lines[...ends[1]].map { $0 + "\n" }.joined().utf8)
        #expect(write(descriptor, part, part.count) == part.count)
        try await eventually("two chunks are in the database") {
            if let status = process.status { throw HarnessFailure("It ended with \(status): \(process.errors)") }
            guard let connection = try? SQLiteDatabase(path: folder + "/tocsin.db").connect(.reader) else {
                return false
            }
            defer { connection.close() }
            return (try? connection.first("SELECT chunk FROM imports") { $0.int(0) }) == 2
        }
        process.signal(SIGKILL)
        try await process.untilExit()
    }

    @Test("what replaces a file is a new one for its owner alone: modes are not kept and links are not followed")
    func replacedFiles() async throws {
        try await Installation.run { installation in
            _ = try await Scene(installation)
            let files = FileManager.default
            var commands = [["export", "--quiet", "--output"]]
            if installation.database is SQLiteDatabase { commands.append(["backup", "--quiet"]) }
            for command in commands {
                let folder = installation.folder + "/" + command[0]
                try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
                let (file, link, victim) = (folder + "/file", folder + "/link", folder + "/victim")
                for path in [file, victim] {
                    try "before".write(toFile: path, atomically: true, encoding: .utf8)
                    chmod(path, 0o644)
                }
                try files.createSymbolicLink(atPath: link, withDestinationPath: victim)
                for path in [file, link] {
                    let data = ["--data-dir", installation.folder + "/data"]
                    let refused = try await run(installation, command + [path] + data)
                    #expect(refused.status == 1, "\(refused)")
                    try await installation.administer(command + [path, "--force"])
                    let attributes = try files.attributesOfItem(atPath: path)
                    #expect(attributes[.type] as? FileAttributeType == .typeRegular)
                    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
                    #expect((attributes[.size] as? NSNumber)?.intValue ?? 0 > 1000)
                }
                #expect(try String(contentsOfFile: victim, encoding: .utf8) == "before")
                let (new, dangling) = (folder + "/new", folder + "/dangling")
                try await installation.administer(command + [new])
                #expect((try files.attributesOfItem(atPath: new)[.posixPermissions] as? NSNumber)?.intValue == 0o600)
                try files.createSymbolicLink(atPath: dangling, withDestinationPath: folder + "/nowhere")
                let data = ["--data-dir", installation.folder + "/data"]
                #expect(try await run(installation, command + [dangling] + data).status == 1)
                #expect(!files.fileExists(atPath: folder + "/nowhere"))
                #expect(
                    try files.contentsOfDirectory(atPath: folder).sorted() == [
                        "dangling", "file", "link", "new", "victim",
                    ]
                )
            }
        }
    }

    @Test("messages beyond what a topic keeps go; cursors among them have expired and later ones are good")
    func retention() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.ada)
            let cursors = try await publish(1...12, client)
            installation.options += ["--messages-keep-per-topic", "5"]
            try await installation.restartServer()
            try await eventually("all but the last five are gone") {
                try await messages(installation, scene) == Self.expected(8...12)
            }
            let expired = try await installation.tocsin(
                ["subscribe", "alerts", "--after", cursors[3], "--count", "1"],
                token: scene.ada
            )
            #expect(expired.status == 1)
            #expect(expired.errors.contains("no longer kept"), "\(expired.errors)")
            let good = try await installation.tocsin(
                ["subscribe", "alerts", "--after", cursors[6], "--count", "5", "--json"],
                token: scene.ada
            )
            let numbers = try good.output.split(separator: "\n").map { try JSONParser.parse(String($0))["number"] }
            #expect(numbers == [8, 9, 10, 11, 12], "\(good.errors)")
            #expect(try await client.publish(topic: "alerts", title: "next").number == 13)
        }
    }
}
