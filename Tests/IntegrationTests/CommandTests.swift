import Foundation
import JSON
import Testing
import TocsinClient

@Suite("Client commands", .timeLimit(.minutes(5)))
struct CommandTests {
    @Test("publish prints the id and number, or all as JSON; repeated with its key it changes nothing")
    func publish() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let arguments = ["publish", "alerts", "--title", "Disk full", "--key", "disk", "--data", "host=web-1"]
            let plain = try await installation.tocsin(arguments, token: scene.ada)
            #expect(plain.status == 0, "\(plain.errors)")
            let json = try await installation.tocsin(arguments + ["--json"], token: scene.ada)
            let object = try JSONParser.parse(json.output)
            #expect(plain.output == "\(object["id"]?.stringValue ?? "") 1\n")
            #expect(object["number"] == 1)
            #expect(object["topicId"]?.stringValue == scene.topicID)
        }
    }

    @Test("the program uses Foundation's essentials alone: the rest would link 34 MB of Unicode tables")
    func essentials() throws {
        let program = try Data(contentsOf: URL(filePath: TestBinary.path()), options: .mappedIfSafe)
        // Symbols of the module, and of its extensions of others.
        for mark in ["$s10Foundation", "10FoundationE"] {
            #expect(program.range(of: Data(mark.utf8)) == nil, "Search the objects of each target for \(mark)")
        }
    }

    private static let failures: [(status: Int32, arguments: [String], reason: String)] = [
        (1, ["publish", "nowhere", "--title", "t"], "nowhere"),
        (1, ["subscribe", "nowhere"], "nowhere"),
        (1, ["subscribe", "alerts", "--after", "forged"], "cursor"),
        (1, ["simulate", "-u", "bob"], "bob"),
        (1, ["topic", "share", "nowhere", "--user", "bob"], "nowhere"),
        (1, ["topic", "share", "alerts", "--user", "nobody"], "no user nobody"),
        (1, ["topic", "unshare", "alerts", "--group", "ops"], "not shared with the group ops"),
        (1, ["topic", "delete", "nowhere"], "nowhere"),
        (2, ["topic", "share", "alerts"], "--user NAME"),
        (2, ["topic", "share", "alerts", "--user", "bob", "--group", "ops"], "--user NAME"),
        (2, ["topic", "share", "alerts", "--user", "bob", "--role", "KING"], "--role KING"),
        (2, ["publish", "alerts"], "--title"),
        (2, ["publish", "alerts", "--title", "t", "--priority", "9"], "--priority 9"),
        (2, ["publish", "alerts", "--title", "t", "--data", "x"], "key=value"),
        (2, ["publish", "alerts", "--title", "t", "--server", "host"], "http://"),
        (2, ["subscribe", "alerts", "--count", "0"], "--count 0"),
        (2, ["simulator", "--apns-port", "70000"], "70000"),
    ]

    @Test("what fails ends with 1, wrong use with 2, both with a sentence on standard error")
    func failures() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            for (status, arguments, reason) in Self.failures {
                let result = try await installation.tocsin(arguments, token: scene.ada)
                #expect(result.status == status, "\(result.errors)")
                #expect(result.errors.contains(reason), "\(result.errors)")
                #expect(result.output.isEmpty)
            }
        }
    }

    @Test("what a command lacks is told with that command's usage")
    func usage() async throws {
        try await Installation.run { installation in
            for arguments in [["publish", "alerts", "--title", "t"], ["topic", "list"]] {
                let result = try await installation.tocsin(arguments, token: "")
                let command = "tocsin " + arguments.prefix(arguments[0] == "topic" ? 2 : 1).joined(separator: " ")
                #expect(result.status == 2 && result.errors.hasPrefix("Error: No token."), "\(result)")
                #expect(result.errors.contains("\nUsage: \(command) ["), "\(result.errors)")
                #expect(result.errors.contains("\n  See '\(command) --help' for more information."), "\(result.errors)")
            }
        }
    }

    @Test("a grant to a group says whom it counts for, whether there is such a group or not")
    func groups() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            try await installation.administer(["group", "create", "ops"])
            for group in ["ops", "oops"] {
                let arguments = ["topic", "share", "alerts", "--group", group]
                let shared = try await installation.tocsin(arguments, token: scene.ada)
                #expect(shared.status == 0 && shared.output.hasPrefix("GROUP\t\(group)\t"), "\(shared)")
                #expect(shared.errors.contains("whoever is in the group \(group), now or later"), "\(shared)")
            }
        }
    }

    @Test("a token for publishing to one topic can do that and nothing else; a read-only one cannot publish")
    func scopes() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            _ = try await installation.makeClient(token: scene.ada).makeTopic(named: "other")
            let publisher = try await installation.makeToken(user: "ada", ["--publish", "alerts"])
            let reader = try await installation.makeToken(user: "ada", ["--read-only"])
            let attempts = [
                (["publish", "alerts", "--title", "allowed"], publisher, 0),
                (["publish", "other", "--title", "t"], publisher, 1),
                (["subscribe", "alerts", "--count", "1"], publisher, 1),
                (["publish", "alerts", "--title", "t"], reader, 1),
            ]
            for (arguments, token, status) in attempts {
                let result = try await installation.tocsin(arguments, token: token)
                #expect(result.status == Int32(status), "\(arguments): \(result.errors)")
            }
        }
    }

    @Test("subscribe prints what follows the cursor as lines of JSON, or runs a command for each")
    func subscribe() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.ada)
            let first = try await client.publish(topic: "alerts", title: "one")
            _ = try await client.publish(topic: "alerts", title: "two", body: "2", priority: 5, data: ["a": "b"])
            _ = try await client.publish(topic: "alerts", title: "three \u{1B}[31m")

            let rest = ["subscribe", "alerts", "--after", first.cursor, "--count", "2"]
            let json = try await installation.tocsin(rest + ["--json"], token: scene.ada)
            let lines = try json.output.split(separator: "\n").map { try JSONParser.parse(String($0)) }
            #expect(lines.map { $0["number"] } == [2, 3], "\(json.errors)")
            #expect(lines.first?["data"] == ["a": "b"])
            #expect(lines.first?["priority"] == 5)
            #expect(lines.last?["cursor"]?.stringValue?.isEmpty == false)

            let plain = try await installation.tocsin(rest, token: scene.ada)
            #expect(plain.output.contains("#2 !! two\n    2\n"))
            #expect(!plain.output.contains("\u{1B}"))

            let file = installation.folder + "/seen"
            let command = "echo \"$TOCSIN_NUMBER $TOCSIN_TITLE\" >> '\(file)'; test $TOCSIN_NUMBER -lt 3"
            let exec = try await installation.tocsin(rest + ["--exec", command], token: scene.ada)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "2 two\n3 three \u{1B}[31m\n")
            #expect(exec.errors.contains("status 1 for message 3"))
            #expect(exec.status == 0)
        }
    }

    @Test("a command of --exec begins with no signal blocked or ignored, so that it can be ended")
    func execSignals() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let first = try await installation.makeClient(token: scene.ada).publish(topic: "alerts", title: "one")
            _ = try await installation.makeClient(token: scene.ada).publish(topic: "alerts", title: "two")
            let file = installation.folder + "/signals"
            // Not by a shell, which may change what it was given.
            let command = "exec grep -E '^Sig(Blk|Ign)' /proc/self/status > '\(file)'"
            let rest = ["subscribe", "alerts", "--after", first.cursor, "--count", "1", "--exec", command]
            let exec = try await installation.tocsin(rest, token: scene.ada)
            #expect(exec.status == 0, "\(exec.errors)")
            let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
            let masks = lines.compactMap { UInt64($0.split(separator: "\t").last ?? "", radix: 16) }
            #expect(masks.count == 2)
            // The C library keeps two signals of its own, 32 and 33.
            #expect(masks.allSatisfy { $0 & ~0x1_8000_0000 == 0 }, "\(lines)")
        }
    }

    @Test("an encrypted server is spoken to when its authority is trusted, and only then")
    func encrypted() async throws {
        try await Installation.run(isEncrypted: true) { installation in
            #expect(installation.address.hasPrefix("https://"))
            let scene = try await Scene(installation)
            let publish = ["publish", "alerts", "--title", "encrypted"]
            let trusted = try await installation.tocsin(
                publish + ["--ca-file", installation.authorityFile],
                token: scene.ada
            )
            #expect(trusted.status == 0, "\(trusted.errors)")
            let follower = Follower(try installation.makeClient(token: scene.ada), topicID: scene.topicID)
            try await follower.untilLive()
            _ = try await installation.makeClient(token: scene.ada).publish(topic: "alerts", title: "live")
            try await eventually("the message on the socket") { follower.messages.map(\.title) == ["live"] }
            follower.stop()

            let untrusted = try await installation.tocsin(publish, token: scene.ada)
            #expect(untrusted.status == 1)
            #expect(untrusted.errors.contains("certificate is not trusted"), "\(untrusted.errors)")
            let subscriber = try await installation.tocsin(
                ["subscribe", scene.topicID, "--count", "1"],
                token: scene.ada
            )
            #expect(subscriber.status == 1)
            #expect(subscriber.errors.contains("certificate is not trusted"), "\(subscriber.errors)")
        }
    }

    @Test("simulate reaches the user's phones through a topic of the user's own")
    func simulate() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let arguments = ["simulate", "-u", "ada", "-t", "ORDER_SHIPPED", "-n", "Parcel", "-b", "On its way"]
            let result = try await installation.tocsin(arguments, token: scene.ada)
            #expect(result.status == 0, "\(result.errors)")
            let pushes = try await scene.untilDelivered(1)
            #expect(Set(pushes.map { [$0.token, $0.title] }) == Set(Phone.ofAda.map { [$0, "Parcel"] }))
        }
    }
}
