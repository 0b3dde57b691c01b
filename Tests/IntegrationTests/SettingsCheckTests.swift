import Foundation
import JSON
import Testing

@Suite("tocsin settings check", .timeLimit(.minutes(5)))
struct SettingsCheckTests {
    /// What a file may hold and which words must be told of it.
    private static let mistakes: [(setting: String, file: String, text: String, words: [String])] = [
        (
            "--schema", "model.graphql", "type Topic @model {\n  id: ID!\n  name: Strin\n}\n",
            ["model.graphql:3", "Strin"]
        ),
        ("--routes", "routes.json", "{", ["routes.json", "not JSON"]),
        (
            "--routes", "routes.json",
            #"{"routes": [{"method": "GET", "path": "/a", "document": "{ nope }", "answer": 1}]}"#,
            ["routes.json", "GET /a", "nope"]
        ),
        (
            "--receivers", "receivers.json",
            #"{"receivers": [{"name": "x", "rules": [{"event": {"action": "log", "title": "{a | shout}"}}]}]}"#,
            ["receivers.json", "receiver x", "rule 1", "shout"]
        ),
        ("--trusted-documents", "Wrong.graphql", "{ nope }", ["Wrong.graphql:1:3", "nope"]),
        (
            "--categories", "categories.json", #"{"categories": [{"id": "A"}, {"id": "A"}]}"#, ["categories.json"]
        ),
        ("--tls-certificate", "chain.pem", "no certificate", ["chain.pem", "TLS"]),
    ]

    @Test("a mistake in a file that a setting names is told with file and location, and nothing is made")
    func mistakes() async throws {
        for mistake in Self.mistakes {
            try await Self.inFolder { folder in
                let path = folder + "/" + mistake.file
                try mistake.text.write(toFile: path, atomically: true, encoding: .utf8)
                chmod(path, 0o600)
                let result = try await Self.check(folder, [mistake.setting, path] + Self.others(mistake.setting, path))
                #expect(result.status == 2, "\(mistake): \(result.output)")
                #expect(result.output.isEmpty)
                for word in mistake.words { #expect(result.errors.contains(word), "\(word): \(result.errors)") }
                #expect(!FileManager.default.fileExists(atPath: folder + "/data"))
            }
        }
    }

    @Test("mistakes in routes and in trusted documents are told together")
    func together() async throws {
        try await Self.inFolder { folder in
            let (routes, document) = (folder + "/routes.json", folder + "/Wrong.graphql")
            try "{".write(toFile: routes, atomically: true, encoding: .utf8)
            try "{ nope }".write(toFile: document, atomically: true, encoding: .utf8)
            let flags = ["--routes", routes, "--trusted-documents", document, "--trusted-mode", "allow"]
            let result = try await Self.check(folder, flags)
            #expect(
                result.errors.contains("routes.json") && result.errors.contains("Wrong.graphql"),
                "\(result.errors)"
            )
        }
    }

    @Test("everything is told at once: settings, apps, schema, routes, receivers, certificate, folder; by --json too")
    func everything() async throws {
        try await Self.inFolder { folder in
            let files = [
                "tocsin.toml": """
                port = 99999
                prot = 9
                schema = "\(folder)/model.graphql"
                routes = "\(folder)/routes.json"
                receivers = "\(folder)/no-receivers.json"
                tls-certificate = "\(folder)/none.pem"
                tls-key = "\(folder)/none-key.pem"
                data-dir = "\(folder)/tocsin.toml/data"
                push-ca-file = "\(folder)/no-ca.pem"
                [[apps]]
                id = "com.example.app"
                [apps.apns]
                key-id = "KEYONE1234"
                """,
                "model.graphql": "type Topic @model {\n  id: ID!\n  name: Strin\n}\n", "routes.json": "{",
            ]
            for (name, text) in files {
                try text.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8)
            }
            let words = [
                "port", "com.example.app", "Strin", "routes.json", "no-receivers.json", "none.pem",
                "tocsin.toml/data", "no-ca.pem",
            ]
            let config = ["--config", folder + "/tocsin.toml"]
            let plain = try await Self.command(folder, ["settings", "check"] + config)
            #expect(plain.status == 2)
            for word in words { #expect(plain.errors.contains(word), "\(word): \(plain.errors)") }
            #expect(plain.errors.contains("prot is not a setting and has no effect. Did you mean port?"))
            let json = try await Self.command(folder, ["settings", "check", "--json"] + config)
            #expect(json.status == 2)
            let found = try JSONParser.parse(json.output)
            #expect(found["ok"] == false && found["warnings"]?[0]?.stringValue?.contains("prot") == true)
            let problems = (found["problems"]?.arrayValue ?? []).compactMap(\.stringValue)
            for word in words { #expect(problems.contains { $0.contains(word) }, "\(word): \(problems)") }
            for library in ["errno", "descriptor:", "NIOSSL", "could not be completed", "Error("] {
                #expect(!plain.errors.contains(library), "\(library): \(plain.errors)")
            }
        }
    }

    @Test("a folder or a pipe in place of a file is refused in plain words, and nobody waits for the pipe's writer")
    func oddFiles() async throws {
        try await Self.inFolder { folder in
            let pipe = folder + "/pipe"
            guard mkfifo(pipe, 0o600) == 0 else { throw HarnessFailure("No pipe can be made.") }
            let whole = try await Self.command(folder, ["settings", "check", "--config", pipe])
            #expect(whole.errors.contains("pipe cannot be used: it is a pipe to which nobody writes"), "\(whole)")
            for setting in ["schema", "routes", "receivers", "categories", "jwks-file", "push-ca-file"] {
                for (path, words) in [(folder, "it is a directory"), (pipe, "it is a pipe to which nobody writes")] {
                    let result = try await Self.command(folder, ["settings", "check", "--\(setting)", path])
                    #expect(result.status == 2, "\(setting) \(path): \(result)")
                    #expect(result.errors.contains(words), "\(setting) \(path): \(result.errors)")
                }
            }
            for (path, words) in [(folder, "it is a directory"), (pipe, "it is a pipe")] {
                let tls = ["--tls-certificate", path, "--tls-key", path]
                let result = try await Self.command(folder, ["settings", "check"] + tls)
                #expect(result.status == 2 && result.errors.contains(words), "\(result)")
            }
            // The start says the same.
            let start = ["serve", "--port", "0", "--data-dir", folder + "/data", "--schema", pipe]
            let started = try await Self.command(folder, start)
            #expect(started.status != 0 && started.errors.contains("it is a pipe to which nobody writes"))
        }
    }

    @Test("commands that only look make nothing, in a wrong data directory or beside a right database")
    func looking() async throws {
        let looks = [
            ["user", "list"], ["group", "list"], ["token", "list"], ["key", "list"], ["device", "list"],
            ["audit", "list"], ["webhooks", "list"], ["timers"], ["migrate", "status"], ["export"],
            ["backup", "copy.db"],
        ]
        try await Self.inFolder { folder in
            for look in looks {
                let result = try await Self.command(folder, look + ["--data-dir", folder + "/wrong"])
                #expect(result.status == 1, "\(look): \(result)")
                #expect(result.errors.contains("There is no database at"), "\(look): \(result.errors)")
            }
            for look in [["settings"], ["settings", "check"], ["schema", "print"]] {
                let result = try await Self.command(folder, look + ["--data-dir", folder + "/wrong"])
                #expect(result.status == 0, "\(look): \(result.errors)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0 == "wrong" }.isEmpty)
            let made = try await Self.command(folder, ["user", "add", "ada", "--data-dir", folder + "/right"])
            try #require(made.status == 0, "\(made.errors)")
            let elsewhere = ["--database", "sqlite:\(folder)/right/tocsin.db", "--data-dir", folder + "/wrong"]
            for look in [["user", "list"], ["token", "list"], ["audit", "list"]] {
                let result = try await Self.command(folder, look + elsewhere)
                #expect(result.status == 0, "\(look): \(result.errors)")
            }
            #expect(!FileManager.default.fileExists(atPath: folder + "/wrong"))
        }
    }

    @Test("whom a folder does not let in is told so, and not that there is no database")
    func shutFolder() async throws {
        try await Self.inFolder { folder in
            let made = try await Self.command(folder, ["user", "add", "ada", "--data-dir", folder + "/data"])
            try #require(made.status == 0, "\(made.errors)")
            chmod(folder + "/data", 0)
            defer { chmod(folder + "/data", 0o700) }
            for look in [["user", "list"], ["backup", folder + "/copy.db"]] {
                let command = [try TestBinary.path()] + look + ["--data-dir", folder + "/data"]
                // Root is let in everywhere, unless it gives that up.
                let weaker = ["/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search"]
                let words = geteuid() == 0 ? weaker + command : command
                let result = try await ChildProcess.run(
                    words[0],
                    Array(words.dropFirst()),
                    environment: TestBinary.environment,
                    folder: folder
                )
                #expect(result.status == 1, "\(look): \(result)")
                #expect(result.errors.contains("may not look into the folder"), "\(look): \(result.errors)")
                #expect(!result.errors.contains("There is no database"), "\(look): \(result.errors)")
            }
        }
    }

    @Test("a port that is taken is told in plain words, with what to do")
    func takenPort() async throws {
        try await Self.inFolder { folder in
            let first = try await ServerProcess(folder: folder, port: 0, environment: [:])
            defer { first.process.signal(SIGKILL) }
            let second = try await Self.command(
                folder,
                ["serve", "--host", "127.0.0.1", "--port", "\(first.port)", "--data-dir", folder + "/other"]
            )
            #expect(second.status == 1)
            #expect(
                second.errors.contains(
                    "Cannot listen on 127.0.0.1 port \(first.port): another program listens there. Choose a free address, or stop "
                        + "who uses it."
                ),
                "\(second.errors)"
            )
            // Whoever collects lines of JSON hears of it, and of no other error.
            let lines = second.errors.split(separator: "\n").compactMap { try? JSONParser.parse(String($0)) }
            let errors = lines.filter { $0["level"] == "error" }
            #expect(errors.map { $0["event"] } == ["start_failed"], "\(second.errors)")
            #expect(errors.first?["reason"]?.stringValue?.contains("another program listens there") == true)
        }
    }

    @Test("an address that is nobody's is told with what mends it, and nothing of others who use it")
    func foreignAddress() async throws {
        try await Self.inFolder { folder in
            for (host, words) in [
                ("no-such-host.invalid", "no address of this name is known. Mend the name"),
                // A network for examples alone (RFC 5737).
                ("192.0.2.1", "this machine has no such address. Choose one that it has"),
            ] {
                let start = ["serve", "--host", host, "--port", "0", "--data-dir", folder + "/data"]
                let result = try await Self.command(folder, start)
                #expect(result.status == 1 && result.errors.contains(words), "\(host): \(result.errors)")
                #expect(!result.errors.contains("stop who uses it"), "\(result.errors)")
            }
        }
    }

    @Test("what the schema leaves no room for of the shipped routes is a warning, and the settings are in order")
    func warning() async throws {
        try await Self.inFolder { folder in
            let model = folder + "/model.graphql"
            try Self.renamed.write(toFile: model, atomically: true, encoding: .utf8)
            let result = try await Self.check(folder, ["--schema", model])
            #expect(result.status == 0, "\(result.errors)")
            for word in ["warning: ", "search topic", "getTopicByName"] {
                #expect(result.output.contains(word), "\(word): \(result.output)")
            }
            #expect(!result.output.contains("/tcm/create-topic"), "\(result.output)")
            #expect(result.output.hasSuffix("The settings are in order.\n"))
        }
    }

    @Test("a key of TLS that other users may read is a warning, at the check and at the start, through a link too")
    func openKey() async throws {
        try await Self.inFolder { folder in
            let (certificate, key, link) = (folder + "/tls.pem", folder + "/tls-key.pem", folder + "/link.pem")
            let made = try await ChildProcess.run(
                "/usr/bin/openssl",
                [
                    "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=a", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-keyout", key, "-out", certificate,
                ],
                environment: TestBinary.environment,
                folder: folder
            )
            try #require(made.status == 0, "\(made.errors)")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: key)
            for path in [key, link] {
                for (mode, warns) in [(0o600, false), (0o644, true)] as [(mode_t, Bool)] {
                    chmod(key, mode)
                    let flags = ["--tls-certificate", certificate, "--tls-key", path]
                    let result = try await Self.check(folder, flags)
                    #expect(result.status == 0, "\(result.errors)")
                    let sentence = "warning: --tls-key: the file \(path) may be read by other users."
                    #expect(result.output.contains(sentence) == warns, "\(result.output)")
                    let server = try await ServerProcess(folder: folder, port: 0, environment: [:], options: flags)
                    server.process.signal(SIGTERM)
                    #expect(try await server.process.untilExit() == 0)
                    let logged = "--tls-key: the file \(path) may be read by other users."
                    #expect(server.process.errors.contains(logged) == warns, "\(server.process.errors)")
                }
            }
        }
    }

    /// Topics are found by another field here.
    private static let renamed = """
        type Topic @model @auth(rules: [{ allow: owner, operations: [create, read, update, delete] }]) {
          id: ID!
          name: String! @index(name: "byName", queryField: "topicsByName")
          arn: String!
        }
        type Message @model @auth(rules: [{ allow: owner, operations: [create, read] }]) {
          id: ID!
          type: Int!
          title: String!
          body: String!
          createdAt: AWSDateTime!
          topicId: ID! @index(name: "byTopicIdAndCreatedAt", sortKeyFields: ["createdAt"])
        }
        """

    private static func command(
        _ folder: String,
        _ arguments: [String]
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await TestBinary.run(arguments, folder: folder)
    }

    private static func others(_ setting: String, _ path: String) -> [String] {
        switch setting {
        case "--trusted-documents": ["--trusted-mode", "only"]
        case "--tls-certificate": ["--tls-key", path]
        default: []
        }
    }

    private static func check(
        _ folder: String,
        _ flags: [String]
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await TestBinary.run(["settings", "check", "--data-dir", folder + "/data"] + flags, folder: folder)
    }

    private static func inFolder(_ body: (String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "tocsin-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }
}
