import Foundation
import JSON
import Testing
import TocsinClient

@Suite("Founding rows: types as words, and simulate", .timeLimit(.minutes(5)))
struct MessageWordsTests {
    @Test(
        "D6, D7, D12: a type's word goes in by REST and comes out on REST, in history and in pushes; a number stays one"
    )
    func words() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let given: [(type: JSONValue, shown: JSONValue, number: JSONValue)] = [
                ("comment", "comment", 2), ("Leader", "Leader", 5), ("sunset", "sunset", 0), (7, 7, 7), ("8", 8, 8),
            ]
            for (type, shown, _) in given {
                let body: JSONValue = ["topic": "alerts", "title": "t", "type": type]
                let made = try await installation.http("/tcm/create-message", token: scene.ada, Self.post(body))
                #expect(try made.json["message"]?["type"] == shown, "\(made.body)")
                #expect(try made.json["message"]?["timestamp"] == made.json["message"]?["created_at"])
            }
            let history = try await installation.http("/api/notifications/history", token: scene.ada).json
            let types = history["history"]?.arrayValue?.map { $0["data"]?["type"] ?? .null } ?? []
            #expect(types == given.map(\.shown).reversed())
            let stored = try await installation.curl(
                "{ history(limit: 5) { items { type typeName createdAt } } }",
                token: scene.ada
            )
            let items = stored["data"]?["history"]?["items"]?.arrayValue ?? []
            #expect(items.map { $0["type"] ?? .null } == given.map(\.number).reversed(), "\(stored)")
            let pushes = try await scene.untilDelivered(given.count)
            let android = pushes.filter { $0.token == Phone.android }.map { $0.record["payload"]?["message"]?["data"] }
            #expect(Set(android.map { $0?["type"]?.stringValue }) == ["comment", "Leader", "sunset", "7", "8"])
            for data in android { #expect(data?["timestamp"] != nil && data?["timestamp"] == data?["createdAt"]) }
            let apple = pushes.filter { $0.token == Phone.firstIOS }.map { $0.record["payload"] }
            #expect(Set(apple.map { $0?["type"] }) == ["comment", "Leader", "sunset", 7, 8])
        }
    }

    @Test(
        "D3, D13: simulate takes a word as -t and a path as -r, by a push token or the user's own, to the user's own topic"
    )
    func simulate() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            try await installation.administer(["user", "add", "backend"])
            let pusher = try await installation.makeToken(user: "backend", ["--push"])
            let arguments = ["simulate", "-u", "ada", "-t", "comment", "-r", "/", "-n", "Hi", "-b", "There"]
            let sent = try await installation.tocsin(arguments, token: pusher)
            #expect(sent.status == 0 && sent.output.hasSuffix(" to 3 devices\n"), "\(sent)")
            let own = try await installation.tocsin(
                ["simulate", "-u", "ada", "-t", "5", "-r", "https://pong.example/stats"],
                token: scene.ada
            )
            #expect(own.status == 0, "\(own)")
            let history = try await installation.http("/api/notifications/history", token: scene.ada).json
            let data = history["history"]?.arrayValue?.map { [$0["data"]?["type"], $0["data"]?["url"]] } ?? []
            #expect(data == [[5, "https://pong.example/stats"], ["comment", .string(installation.address + "/")]])
            #expect(history["history"]?[1]?["notification"] == ["title": "Hi", "body": "There"])
            let pushes = try await scene.untilDelivered(2)
            let first = pushes.first { $0.token == Phone.android && $0.title == "Hi" }?.record["payload"]?["message"]
            #expect(first?["data"]?["type"] == "comment")
            #expect(first?["data"]?["url"]?.stringValue == installation.address + "/")

            let refused = try await installation.tocsin(["simulate", "-u", "bob"], token: scene.ada)
            #expect(refused.status == 1 && refused.errors.contains("may not push to bob"), "\(refused)")
            let nobody = try await installation.tocsin(["simulate", "-t", "comment"], token: pusher)
            #expect(nobody.status == 2 && nobody.errors.contains("-u is missing"), "\(nobody)")
        }
    }

    @Test("D13: simulate -t leader without -u reaches everybody's devices")
    func everybody() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            try await installation.administer(["user", "add", "backend"])
            let pusher = try await installation.makeToken(user: "backend", ["--push"])
            let sent = try await installation.tocsin(["simulate", "-t", "leader", "-n", "New leader"], token: pusher)
            #expect(sent.status == 0 && sent.output.hasSuffix(" to 4 devices\n"), "\(sent)")
            let bobs = try await installation.http("/api/notifications/history", token: scene.bob).json
            #expect(bobs["history"]?[0]?["data"]?["type"] == "leader", "\(bobs)")
            try await eventually("every phone has it") {
                let seen = try await installation.simulator?.pushes().filter(\.isAccepted) ?? []
                return Set(seen.map(\.token)) == Set(Phone.ofAda + [Phone.ofBob])
            }
            let own = try await installation.tocsin(["simulate", "-t", "leader"], token: scene.ada)
            #expect(own.status == 1 && own.errors.contains("everybody"), "\(own)")
        }
    }

    private static func post(_ body: JSONValue) -> [String] {
        ["--header", "Content-Type: application/json", "--data-binary", body.serializedString()]
    }
}
