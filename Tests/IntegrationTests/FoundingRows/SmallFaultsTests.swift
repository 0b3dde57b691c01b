import Foundation
import JSON
import Testing
import TocsinClient

@Suite("Small faults met beside the founding rows", .timeLimit(.minutes(5)))
struct SmallFaultsTests {
    @Test("B18, B21: the start line says which phones pushes reach, and Gorush's variables are named in one warning")
    func start() async throws {
        try await Installation.run(prepare: {
            $0.environment.merge(["GORUSH_URL": "http://gorush:8088", "GORUSH_CORE_PORT": "1"]) { $1 }
        }) { installation in
            let line = installation.logLines.first { $0["message"] == "starting" }
            #expect(line?.serializedString().contains("\"ios_enabled\":true") == true, "\(installation.log)")
            #expect(line?.serializedString().contains("\"android_enabled\":true") == true)
            let warnings = installation.log.split(separator: "\n").filter { $0.contains("GORUSH") }
            #expect(warnings.count == 1 && warnings[0].contains("GORUSH_CORE_PORT, GORUSH_URL"), "\(warnings)")
            #expect(warnings[0].contains("docs/from-gorush.md"))
        }
    }

    @Test("a name that two topics have is refused by publish with both ids, and nothing is published")
    func ambiguousName() async throws {
        try await Installation.run(prepare: { $0.environment["TOCSIN_TOPIC_NAMES"] = "any" }) { installation in
            let token = try await installation.addUser("ada")
            for id in ["one", "two"] {
                let made = "mutation { createTopic(input: { id: \"\(id)\", name: \"alerts\" }) { id } }"
                _ = try await installation.curl(made, token: token)
            }
            let refused = try await installation.tocsin(["publish", "alerts", "--title", "t"], token: token)
            #expect(refused.status == 1, "\(refused)")
            #expect(refused.errors.contains("one") && refused.errors.contains("two"), "\(refused)")
            #expect(refused.errors.contains("TOPIC_AMBIGUOUS"))
            #expect(try await installation.tocsin(["publish", "two", "--title", "t"], token: token).status == 0)

            let redrive = try await installation.tocsin(["redrive", "nope"], token: token)
            #expect(redrive.status == 1 && redrive.errors.contains("There is no message nope"), "\(redrive)")
            let retry = try await installation.attempt(["webhooks", "retry", "nosuch"])
            #expect(retry.status == 1 && retry.errors.contains("There is no webhook nosuch"), "\(retry)")
        }
    }

    @Test("a server that runs trusted documents only serves this program's own commands")
    func ownDocuments() async throws {
        try await Installation.run { installation in
            let folder = installation.folder + "/documents"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try "{ me { username } }".write(toFile: folder + "/me.graphql", atomically: true, encoding: .utf8)
            installation.options += ["--trusted-documents", folder, "--trusted-mode", "only"]
        } _: { installation in
            let token = try await installation.addUser("ada")
            let client = try installation.makeClient(token: token)
            _ = try await client.makeTopic(named: "alerts")
            _ = try await client.registerPushToken(DeviceRegistration(token: Phone.firstIOS, platform: "ios"))
            let published = try await installation.tocsin(["publish", "alerts", "--title", "t"], token: token)
            #expect(published.status == 0, "\(published)")
            let id = String(published.output.prefix { $0 != " " })
            for arguments in [
                ["deliveries", id], ["explain", id, "nobody"], ["redrive", id], ["simulate", "-u", "ada"],
                ["schedule", "list"], ["digest", "list"],
            ] {
                let result = try await installation.tocsin(arguments, token: token)
                #expect(!result.errors.contains("DOCUMENT_NOT_TRUSTED"), "\(arguments): \(result)")
            }
            let manifest = try JSONParser.parse(
                try await installation.tocsin(["client", "documents"], token: token).output
            )
            let names = manifest["operations"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
            #expect(names.contains("SignIn") && Set(names).count == names.count && !names.contains(""), "\(names)")
            let first = try await client.publish(topic: "alerts", title: "first")
            _ = try await client.publish(topic: "alerts", title: "live")
            let feed = client.follow(topic: "alerts", after: first.cursor).makeAsyncIterator()
            #expect(try await feed.next()?.title == "live")
            let all = client.followAll(after: FeedPlace(cursor: first.cursor)).makeAsyncIterator()
            #expect(try await all.next()?.title == "live")
            let other = try await installation.curl("{ devices { id } }", token: token)
            #expect(other.errorCode == "DOCUMENT_NOT_TRUSTED")
        }
    }

    @Test("commands name commands where something is wrong, and nothing of GraphQL")
    func words() async throws {
        try await Installation.run { installation in
            let token = try await installation.addUser("ada")
            _ = try await installation.makeClient(token: token).makeTopic(named: "alerts")
            let reader = try await installation.makeToken(user: "ada", ["--read-only"])
            let cases: [(status: Int32, token: String, arguments: [String], words: String)] = [
                (1, token, ["publish", "nowhere", "--title", "t"], "`tocsin topic create NAME` makes one"),
                (1, reader, ["publish", "alerts", "--title", "t"], "your token may do less"),
                (
                    2, token, ["topic", "share", "alerts", "--user", "bob", "--until", "tomorrow"],
                    "--until is \"tomorrow\""
                ),
                (2, token, ["publish", "alerts", "--title", "t", "--url", "example"], "--url is \"example\""),
                (2, token, ["token", "create", "--user", "ada", "--ttl", "11y"], "Ten years (10y) is the longest."),
                (
                    1, token, ["schedule", "add", "alerts", "--title", "t", "--cron", "@daily"],
                    "has one field; write five"
                ),
            ]
            for (status, token, arguments, words) in cases {
                let result = try await installation.tocsin(arguments, token: token)
                #expect(result.status == status && result.errors.contains(words), "\(arguments): \(result)")
                for inside in ["Not Authorized", "createTopic", "AWSDateTime", "Variable"] {
                    #expect(!result.errors.contains(inside), "\(arguments): \(result.errors)")
                }
            }
        }
    }

    @Test("commands that only look make no database where there is none, and say where they looked")
    func looking() async throws {
        let folder = NSTemporaryDirectory() + "tocsin-test-" + UUID().uuidString
        for arguments in [
            ["user", "list"], ["token", "list"], ["key", "list"], ["device", "list"], ["member", "list", "t"],
            ["webhooks", "list"], ["migrate", "status"], ["user", "disable", "ada"],
        ] {
            let result = try await Self.run(arguments + ["--data-dir", folder + "/mistyped"])
            #expect(result.status == 1, "\(arguments): \(result)")
            #expect(result.errors.contains("There is no database at \(folder)/mistyped/tocsin.db"), "\(result)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test("what settings prints is a settings file, whatever is not set or secret")
    func settingsFile() async throws {
        let folder = NSTemporaryDirectory() + "tocsin-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let secret = ["--jwt-hs256-secret", String(repeating: "s", count: 40), "--jwt-issuer", "https://i.example"]
        let names = ["--jwt-audience", "app"]
        let shown = try await Self.run(["settings", "--port", "9000"] + secret + names)
        #expect(shown.status == 0, "\(shown)")
        #expect(!shown.output.contains("sssss"))
        try shown.output.write(toFile: folder + "/tocsin.toml", atomically: true, encoding: .utf8)
        chmod(folder + "/tocsin.toml", 0o600)
        let again = try await Self.run(["settings", "--config", folder + "/tocsin.toml"] + secret + names)
        #expect(again.status == 0 && again.output == shown.output, "\(again.errors)")
    }

    @Test(
        "settings check tells unknown names beside other mistakes, also in [[apps]], and a data directory that cannot be"
    )
    func settingsCheck() async throws {
        let folder = NSTemporaryDirectory() + "tocsin-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let text = """
            prot = 9000
            page-rows = "many"
            [[apps]]
            id = "shop"
            colour = "red"
            [apps.fcm]
            project_id = "p"
            client_mail = "x"
            """
        try text.write(toFile: folder + "/tocsin.toml", atomically: true, encoding: .utf8)
        chmod(folder + "/tocsin.toml", 0o600)
        let wrong = try await Self.run(["settings", "check", "--config", folder + "/tocsin.toml"])
        #expect(wrong.status == 2)
        for word in ["page-rows", "prot is not a setting", "colour is not a setting", "client-mail is not a setting"] {
            #expect(wrong.errors.contains(word), "\(word): \(wrong.errors)")
        }
        try "".write(toFile: folder + "/file", atomically: true, encoding: .utf8)
        for path in [folder + "/file", folder + "/file/data"] {
            let check = try await Self.run(["settings", "check", "--data-dir", path])
            #expect(check.status == 2 && check.errors.contains("The data directory \(path)"), "\(check)")
        }
        let fine = try await Self.run(["settings", "check", "--data-dir", folder + "/new/data"])
        #expect(fine.status == 0, "\(fine)")
    }

    private static func run(
        _ arguments: [String]
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await TestBinary.run(arguments, folder: NSTemporaryDirectory())
    }
}
