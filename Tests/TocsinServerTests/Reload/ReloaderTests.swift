import Foundation
import JSON
import Synchronization
import Testing
import TocsinServer

@Suite("Reloads")
struct ReloaderTests {
    /// A server that does not listen, and the settings that its next reload reads.
    private final class Scene: Sendable {
        let application: Application
        private let origins: [SettingOrigin]
        private let next: Holder
        private let folder: String

        private final class Holder: Sendable {
            let result: Mutex<Result<SettingsReading, SettingsProblems>>
            init(_ reading: SettingsReading) { result = Mutex(.success(reading)) }
        }

        init(_ toml: String = "", _ files: [String: String] = [:]) async throws {
            folder = NSTemporaryDirectory() + "tocsin-reload-" + UUID().uuidString
            let reading = try Self.reading(toml, folder, files)
            let next = Holder(reading)
            (self.next, origins) = (next, reading.origins)
            application = try await Application(
                settings: reading.settings,
                log: LogDestination.standardError(reading.settings, time: SystemTime()),
                rereading: { () throws(SettingsProblems) in try next.result.withLock { $0 }.get() }
            )
        }

        private static func reading(
            _ toml: String,
            _ folder: String,
            _ files: [String: String]
        ) throws(SettingsProblems) -> SettingsReading {
            try read(
                flags: ["config": "t.toml", "data-dir": folder, "log-level": "critical"],
                files: TestFiles.make(files.merging(["t.toml": toml]) { $1 })
            )
        }

        func reload(_ toml: String, _ files: [String: String] = [:]) async -> ReloadOutcome {
            let result = Result { () throws(SettingsProblems) in try Self.reading(toml, folder, files) }
            next.result.withLock { $0 = result }
            return await application.reloader.reload()
        }

        /// What `/admin/settings` says of a setting, without where it came from.
        func value(_ key: String) -> JSONValue? {
            guard case .object(var members)? = SettingsReport.json(origins, of: application.reloader)[key] else {
                return nil
            }
            for name in ["origin", "variable"] { members[name] = nil }
            return .object(members)
        }

        func end() async {
            await application.stop()
            try? FileManager.default.removeItem(atPath: folder)
        }
    }

    @Test("what reloads is taken; what does not is named, and keeps its value")
    func pending() async throws {
        let scene = try await Scene()
        let outcome = await scene.reload("port = 9\nplans = 5\ndevices-per-owner = 3\nmessages-keep = \"30d\"\n")
        #expect(outcome.result == .applied)
        #expect(outcome.changed.sorted() == ["devices-per-owner", "messages-keep"])
        #expect(outcome.pending.sorted() == ["plans", "port"])
        #expect(scene.application.reloader.pending.sorted() == ["plans", "port"])
        #expect(scene.value("port") == ["value": "8080", "reloads": false, "pendingRestart": true])
        #expect(scene.value("devices-per-owner") == ["value": "3", "reloads": true, "pendingRestart": false])
        let back = await scene.reload("")
        #expect(back.pending.isEmpty && scene.application.reloader.pending.isEmpty)
        #expect(scene.value("devices-per-owner")?["value"] == "100")
        #expect(scene.application.reloader.counts.applied == 2)
        await scene.end()
    }

    @Test("one mistake stops everything, and all mistakes are told at once")
    func refused() async throws {
        let scene = try await Scene()
        let toml = "devices-per-owner = 3\nroutes = \"/none.json\"\ncategories = \"/none-either.json\"\n"
        let outcome = await scene.reload(toml)
        #expect(outcome.result == .refused && outcome.changed.isEmpty)
        for word in ["/none.json", "/none-either.json"] {
            #expect(outcome.problems.contains { $0.contains(word) }, "\(outcome.problems)")
        }
        #expect(scene.value("devices-per-owner")?["value"] == "100")
        let unread = await scene.reload("rate-burst = \"many\"\napns-key-id = \"KEY1234567\"\n")
        #expect(unread.problems.count == 2, "\(unread.problems)")
        #expect(scene.application.reloader.counts[.refused] == 2)
        #expect(scene.application.reloader.counts[.applied] == 0)
        await scene.end()
    }

    @Test("keys of pushes come and go while the server runs")
    func pushKeys() async throws {
        let files = ["key.p8": TestFiles.p8]
        let scene = try await Scene()
        let toml = "[apns]\nkey-id = \"KEY1234567\"\nteam-id = \"TEAM123456\"\nkey-contents-file = \"key.p8\"\n"
        let outcome = await scene.reload(toml, files)
        #expect(outcome.result == .applied, "\(outcome)")
        #expect(outcome.changed.sorted() == ["apns-key-contents", "apns-key-id", "apns-team-id"])
        #expect(scene.value("apns-key-contents")?["value"] == "(secret)")
        #expect(await scene.reload("").changed.count == 3)
        await scene.end()
    }

    @Test("what follows a setting that needs a restart waits with it")
    func followers() async throws {
        let old = "jwt-issuer = \"https://a.example\"\njwt-audience = \"a\"\njwks-url = \"https://a.example/keys\"\n"
        let scene = try await Scene(old)
        let other = await scene.reload(old.replacing("a.example", with: "b.example"))
        #expect(other.result == .applied && other.changed.isEmpty)
        #expect(other.pending.sorted() == ["jwks-url", "jwt-issuer"])
        let keys = await scene.reload(old.replacing("/keys", with: "/new"))
        #expect(keys.changed == ["jwks-url"] && keys.pending.isEmpty)
        await scene.end()
    }

    @Test("a webhook's secret and address are taken; another webhook needs a restart")
    func webhooks() async throws {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let table = { (name: String, url: String) in
            "[[webhooks]]\nname = \"\(name)\"\nurl = \"\(url)\"\nsecret = \"\(secret)\"\n"
        }
        let scene = try await Scene(table("one", "https://a.example/"))
        #expect(await scene.reload(table("one", "https://b.example/")).changed == ["webhooks"])
        let added = table("one", "https://b.example/") + table("two", "https://b.example/")
        #expect(await scene.reload(added).pending == ["webhooks"])
        await scene.end()
    }

    @Test(
        "addresses, data, the key, and what sizes memory or threads need a restart",
        arguments: [
            "host", "port", "database", "data-dir", "node", "schema", "server-key", "connections", "memory-bytes",
            "plans", "plan-bytes", "database-readers", "push-in-flight", "persisted-query-bytes", "socket-queue-bytes",
        ]
    )
    func fixed(key: String) throws {
        let definition = try #require(SettingTable.all.first { $0.key == key })
        #expect(!definition.reloads)
    }
}
