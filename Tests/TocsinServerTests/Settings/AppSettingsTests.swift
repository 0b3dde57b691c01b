import JSON
import Testing
import TocsinCore
import TocsinServer

@Suite("Settings of several apps")
struct AppSettingsTests {
    private static let files: [String: String] = [
        "main.p8": TestFiles.p8, "google.json": TestFiles.serviceAccount(),
    ]

    private func reading(_ toml: String, _ environment: [String: String] = [:]) throws -> SettingsReading {
        try read(flags: ["config": "t.toml"], environment, files: TestFiles.make(with(toml)))
    }

    private func found(_ toml: String, _ environment: [String: String] = [:]) -> [String] {
        problems(flags: ["config": "t.toml"], environment, files: TestFiles.make(with(toml)))
    }

    private func with(_ toml: String) -> [String: String] { Self.files.merging(["t.toml": toml]) { $1 } }

    private static let two = """
        port = 9000

        [[apps]]
        id = "com.example.one"
        [apps.apns]
        team_id = "TEAM123456"
        key_id = "KEYONE1234"
        key_file = "main.p8"
        production = true
        critical_alerts = true
        [apps.fcm]
        credentials = "google.json"

        [[apps]]
        id = "two"
        default = true
        [apps.apns]
        team_id = "TEAM123456"
        bundle_id = "com.example.two"
        [apps.apns_sandbox]
        key_id = "KEYSAND123"
        key_file = "main.p8"
        [apps.apns_production]
        key_id = "KEYPROD123"
        key_file = "main.p8"
        """

    @Test("each app has its keys, project and sides; what is not said is taken from its id")
    func apps() throws {
        let reading = try reading(Self.two)
        let apps = reading.settings.apps
        #expect(reading.settings.server.port == 9000)
        #expect(apps.map(\.id) == ["com.example.one", "two"])
        #expect(apps.map(\.isDefault) == [false, true])
        let one = try #require(apps.first?.apns.first)
        #expect(one.settings.bundleID == "com.example.one" && one.settings.isProduction)
        #expect(one.environments == [.sandbox, .production])
        #expect(one.settings.mayBeCritical && apps[1].apns.allSatisfy { !$0.settings.mayBeCritical })
        #expect(apps[0].fcm?.projectID == "demo" && apps[0].fcm?.isConfigured == true)
        #expect(apps[1].apns.map(\.environments) == [[.sandbox], [.production]])
        #expect(apps[1].apns.map(\.settings.keyID) == ["KEYSAND123", "KEYPROD123"])
        #expect(
            apps[1].apns.allSatisfy { $0.settings.bundleID == "com.example.two" && $0.settings.teamID == "TEAM123456" }
        )
        #expect(reading.warnings.isEmpty, "\(reading.warnings)")
    }

    @Test("the same can be said in JSON")
    func json() throws {
        let text = #"""
            {"apps": [{"id": "a", "apns": {"team-id": "TEAM123456", "key-id": "KEYONE1234", "key-file": "main.p8"}}]}
            """#
        #expect(try reading(text).settings.apps.map(\.id) == ["a"])
        #expect(try reading(text).settings.apps.first?.apns.first?.settings.bundleID == "a")
    }

    @Test("what is shown names every app's settings and no secret, and still reads as a settings file")
    func shown() throws {
        let reading = try reading(Self.two)
        let text = SettingsReport.text(reading.origins, showsOrigin: false)
        #expect(text.contains("# apps.com.example.one.apns.key-id = \"KEYONE1234\"\n"), "\(text.suffix(900))")
        #expect(text.contains("# apps.com.example.one.apns.key-contents = \"(secret)\"\n"))
        #expect(text.contains("# apps.two.apns-sandbox.key-id = \"KEYSAND123\"\n"))
        #expect(!text.contains("PRIVATE KEY"))
        let shownAgain = text.split(separator: "\n").filter { !$0.contains("(not set)") }.joined(separator: "\n")
        #expect(try self.reading(shownAgain).settings.server.port == 9000)
    }

    private static let mistakes: [(name: String, toml: String, expected: [String])] = [
        ("one table", "[apps]\nid = \"a\"", ["t.toml: apps must be a list of tables"]),
        ("no table", "apps = [1]", ["t.toml: apps[0] must be a table"]),
        ("no id", "[[apps]]\n[apps.fcm]\nproject_id = \"p\"", ["apps[0]: id is missing"]),
        ("a bad id", "[[apps]]\nid = \"a b\"", ["apps[0]: id must be at most 255 bytes without spaces"]),
        ("nothing", "[[apps]]\nid = \"a\"", ["apps[0] (a): there are no credentials"]),
        ("an empty table", "[[apps]]\nid = \"a\"\n[apps.fcm]", ["apps[0] (a): fcm: there is nothing in it"]),
        (
            "half of Apple's", "[[apps]]\nid = \"a\"\n[apps.apns]\nkey_id = \"KEYONE1234\"",
            ["apps[0] (a): apns: Apple push is set up half-way: key-id without team-id and key-contents or key-file"]
        ),
        (
            "a missing file",
            "[[apps]]\nid = \"a\"\n[apps.apns]\nkey_id = \"KEYONE1234\"\nteam_id = \"TEAM123456\"\nkey_file = \"no.p8\"",
            [
                "apps[0] (a): apns: apns-key-contents-file: the file no.p8 cannot be used: there is no such file",
                "apps[0] (a): apns: Apple push is set up half-way: key-id and team-id without key-contents",
            ]
        ),
        (
            "a wrong key",
            "[[apps]]\nid = \"a\"\n[apps.apns]\nkey_id = \"KEYONE1234\"\nteam_id = \"TEAM123456\"\nkey = \"x\"",
            ["apps[0] (a): apns: apns-key-contents: the value cannot be used"]
        ),
        ("default is no truth", "[[apps]]\nid = \"a\"\ndefault = 3", ["apps[0] (a): default must be true or false"]),
        (
            "every mistake at once", "port = 99999\n[[apps]]\nid = \"a b\"\n[[apps]]\nid = \"c\"\nfcm = 3",
            ["t.toml: port", "apps[0]: id must be", "apps[1] (c): fcm must be a table"]
        ),
    ]

    @Test("a mistake stops the start with its location and what to do", arguments: mistakes.indices)
    func mistake(index: Int) {
        let (name, toml, expected) = Self.mistakes[index]
        let problems = found(toml)
        for text in expected {
            #expect(problems.contains { $0.contains(text) }, "\(name): \(problems)")
        }
        #expect(problems.count == expected.count, "\(name): \(problems)")
    }

    @Test("two apps of one id, two default apps, and a default app beside the environment's are refused")
    func conflicts() {
        let app = { (id: String, isDefault: Bool) in
            "[[apps]]\nid = \"\(id)\"\ndefault = \(isDefault)\n[apps.fcm]\ncredentials = \"google.json\"\n"
        }
        #expect(found(app("a", false) + app("a", false)).first?.contains("two apps with the id a") == true)
        #expect(found(app("a", true) + app("b", true)).first?.contains("a and b are both the default app") == true)
        let beside = found(app("a", true), ["GOOGLE_APPLICATION_CREDENTIALS": "google.json"])
        #expect(beside.first?.contains("a is the default app, but there are credentials outside of apps") == true)
        #expect(found(app("a", false), ["GOOGLE_APPLICATION_CREDENTIALS": "google.json"]).isEmpty)
    }

    @Test("a name that means nothing is warned of, with what may have been meant")
    func unknownNames() throws {
        let toml = """
            [[apps]]
            id = "a"
            colour = "red"
            [apps.apns]
            team_id = "TEAM123456"
            key_idd = "x"
            key_id = "KEYONE1234"
            key_file = "main.p8"
            """
        let warnings = try reading(toml).warnings
        #expect(warnings.contains { $0.contains("apps[0] (a): colour is not a setting") }, "\(warnings)")
        #expect(
            warnings.contains { $0.contains("key-idd is not a setting") && $0.contains("Did you mean") },
            "\(warnings)"
        )
    }
}
