import JSON
import Testing
import TocsinServer

@Suite("Settings shown")
struct SettingsReportTests {
    @Test("what is shown can be used as a settings file, but for secrets")
    func roundTrip() throws {
        let environment = ["TOCSIN_PORT": "9000", "TOCSIN_NODE": "a \"b\"", "TOCSIN_PUSH_RETRY_SECONDS": "1, 2.5"]
        let reading = try read(environment)
        let text = SettingsReport.text(reading.origins, showsOrigin: true)
        let again = try read(flags: ["config": "t.toml"], files: TestFiles.make(["t.toml": text]))
        #expect(again.settings == reading.settings)
    }

    @Test("a secret of a file is named by the file, and tables stand as they are, so that nothing is lost")
    func secretsOfFiles() throws {
        let toml = """
            vapid-subject = "mailto:a@b.example"
            vapid-private-key-file = "vapid.key"
            tls-certificate = "01"
            tls-key = "0x1F"
            node = "1e5"
            [apns]
            key-id = "0123456789"
            team-id = "TEAM123456"
            key-contents-file = "key.p8"
            [[apps]]
            id = "com.example.one"
            [apps.apns]
            team_id = "TEAM123456"
            key-id = "KEYONE1234"
            key-file = "key.p8"
            [[webhooks]]
            url = "https://a.example/hook"
            secret-file = "hook"
            events = ["schedule.due"]
            """
        let key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE"
        let contents = ["vapid.key": key, "key.p8": TestFiles.p8, "hook": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]
        let flags = ["config": "t.toml"]
        let reading = try read(flags: flags, files: TestFiles.make(contents.merging(["t.toml": toml]) { $1 }))
        for showsOrigin in [false, true] {
            let text = SettingsReport.text(reading.origins, tables: reading.tables, showsOrigin: showsOrigin)
            #expect(!text.contains("PRIVATE KEY") && !text.contains(key), "\(text)")
            let again = try read(flags: flags, files: TestFiles.make(contents.merging(["t.toml": text]) { $1 }))
            #expect(again.settings == reading.settings, "\(text)")
        }
    }

    @Test(
        "what makes no sense without a secret of the environment is commented out with it, so that the file is in order",
        arguments: [
            (
                ["APNS_KEY_CONTENTS": TestFiles.p8, "APNS_KEY_ID": "KEYONE1234", "APNS_TEAM_ID": "TEAM123456"],
                ["# apns-key-id = \"KEYONE1234\"", "# apns-team-id = \"TEAM123456\""]
            ),
            (
                [
                    "FCM_PRIVATE_KEY": TestFiles.serviceAccountKey, "FCM_PROJECT_ID": "p",
                    "FCM_CLIENT_EMAIL": "a@b.example",
                ],
                ["# fcm-project-id = \"p\"", "# fcm-client-email = \"a@b.example\""]
            ),
            (
                [
                    "VAPID_PRIVATE_KEY": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE",
                    "VAPID_SUBJECT": "mailto:a@b.example",
                ],
                ["# vapid-subject = \"mailto:a@b.example\""]
            ),
            (
                [
                    "TOCSIN_JWT_HS256_SECRET": "0123456789012345678901234567890123456789",
                    "TOCSIN_JWT_ISSUER": "https://a.example", "TOCSIN_JWT_AUDIENCE": "app",
                ],
                ["# jwt-issuer = \"https://a.example\"", "# jwt-audience = \"app\""]
            ),
            (
                [
                    "TOCSIN_ADMIN_TOKEN": "0123456789abcdef0123",
                    "TOCSIN_ADMIN_LISTEN": "unix:/run/a.sock,0.0.0.0:9464,127.0.0.1:9465",
                ],
                [
                    "# admin-listen = \"unix:/run/a.sock,0.0.0.0:9464,127.0.0.1:9465\"",
                    "admin-listen = \"unix:/run/a.sock,127.0.0.1:9465\"",
                ]
            ),
            (
                ["TOCSIN_ADMIN_TOKEN": "0123456789abcdef0123", "TOCSIN_ADMIN_LISTEN": "0.0.0.0:9464"],
                ["# admin-listen = \"0.0.0.0:9464\"", "# admin-token = \"(secret)\""]
            ),
            (
                ["TOCSIN_ADMIN_TOKEN": "0123456789abcdef0123", "TOCSIN_ADMIN_LISTEN": "unix:/run/a.sock"],
                ["admin-listen = \"unix:/run/a.sock\""]
            ),
        ]
    )
    func lostSecrets(environment: [String: String], expected: [String]) throws {
        let more = ["TOCSIN_PORT": "9000"]
        let reading = try read(environment.merging(more) { $1 })
        let text = SettingsReport.text(reading.origins, showsOrigin: false)
        let lines = text.split(separator: "\n").map(String.init)
        for line in expected { #expect(lines.contains(line), "\(line) is not in \(text)") }
        let again = try read(flags: ["config": "t.toml"], files: TestFiles.make(["t.toml": text]))
        #expect(again.settings.server.port == 9000)
    }

    @Test("a table with a secret in it is commented out, and a password of the database too")
    func hidden() throws {
        let toml = """
            database = "postgres://ada:hunter2@db.example/tocsin"
            [[webhooks]]
            url = "https://a.example/hook"
            secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
            [[oidc]]
            id = "google"
            issuer = "https://accounts.example"
            client_id = "tocsin"
            client_secret = "hunter2"
            """
        let environment = ["TOCSIN_PUBLIC_URL": "https://push.example.com"]
        let reading = try read(flags: ["config": "t.toml"], environment, files: TestFiles.make(["t.toml": toml]))
        let text = SettingsReport.text(reading.origins, tables: reading.tables, showsOrigin: false)
        #expect(!text.contains("hunter2") && !text.contains("whsec_"), "\(text)")
        #expect(text.contains("# database = \"postgres://ada@db.example/tocsin\"\n"), "\(text)")
        #expect(text.contains("# [[webhooks]]\n") && text.contains("# client_secret = \"(secret)\"\n"), "\(text)")
        #expect(try read(flags: ["config": "t.toml"], files: TestFiles.make(["t.toml": text])).tables.isEmpty)
    }

    @Test(
        "an address of a webhook is shown without what lets its bearer in, and the table is commented out then",
        arguments: [
            ("https://a.example/hooks/tocsin-at-our-office", "https://a.example/hooks/tocsin-at-our-office"),
            ("https://a.example/x?key=hunter2", "https://a.example/x?(secret)"),
            (
                "https://hooks.example/services/T012/B345/aBcDhunter2eFgHiJk",
                "https://hooks.example/services/T012/B345/(secret)"
            ),
            ("https://a.example/9f1c2d3e-hunter2-4b5a6978/in", "https://a.example/(secret)/in"),
        ]
    )
    func addresses(url: String, shown: String) throws {
        let toml = "[[webhooks]]\nurl = \"\(url)\"\nsecret-file = \"hook\"\nevents = [\"schedule.due\"]\n"
        let files = ["t.toml": toml, "hook": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]
        let reading = try read(flags: ["config": "t.toml"], files: TestFiles.make(files))
        let text = SettingsReport.text([], tables: reading.tables, showsOrigin: false)
        #expect(text.contains((url == shown ? "" : "# ") + "url = \"\(shown)\"\n"), "\(text)")
        #expect(!text.contains("hunter2"))
    }

    @Test("each setting names its origin")
    func origins() throws {
        let reading = try read(flags: ["port": "9"], ["TOCSIN_HOST": "h"])
        let text = SettingsReport.text(reading.origins, showsOrigin: true)
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines.contains("host = \"h\" # TOCSIN_HOST"))
        #expect(lines.contains("port = 9 # --port"))
        #expect(lines.contains("page-rows = 100 # default"))
        let plain = SettingsReport.text(reading.origins, showsOrigin: false).split(separator: "\n")
        #expect(plain.contains("host = \"h\"") && plain.contains("# node = (not set)"))
        let json = SettingsReport.json(reading.origins)
        #expect(json["port"] == ["value": "9", "origin": "--port", "variable": "TOCSIN_PORT", "reloads": false])
        #expect(json["node"]?["value"]?.isNull == true)
    }

    @Test("the example has every setting, and changes nothing with or without its signs of comment")
    func example() throws {
        let text = SettingsReport.example()
        for definition in SettingTable.all { #expect(text.contains("\n#\(definition.key) = ")) }
        let bare = text.split(separator: "\n").map { line in
            line.hasPrefix("#") && !line.hasPrefix("# ") && !line.hasPrefix("##") ? line.dropFirst() : line
        }.joined(separator: "\n")
        let defaults = try read().settings
        for file in [text, bare] {
            let reading = try read(flags: ["config": "t.toml"], files: TestFiles.make(["t.toml": file]))
            #expect(reading.settings == defaults)
            #expect(reading.warnings.isEmpty)
        }
    }

    @Test("the manual page has every flag, and no line that roff would take for a command")
    func manual() {
        let page = SettingsReport.manual()
        for definition in SettingTable.all {
            #expect(page.contains("--\(definition.key),".replacing("-", with: "\\-")))
        }
        for line in page.split(separator: "\n") where line.hasPrefix(".") {
            #expect([".SH ", ".SS ", ".TP", ".B "].contains { line.hasPrefix($0) }, "\(line)")
        }
    }
}
