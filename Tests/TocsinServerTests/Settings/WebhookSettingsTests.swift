import Testing
import TocsinCore
import TocsinServer

@Suite("Settings: webhooks and push to browsers")
struct WebhookSettingsTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private func read(_ toml: String, _ environment: [String: String] = [:]) throws(SettingsProblems) -> SettingsReading
    {
        try SettingsReader.read(
            flags: ["config": "tocsin.toml"],
            environment: environment,
            files: TestFiles.make(["tocsin.toml": toml])
        )
    }

    private func problems(_ toml: String, _ environment: [String: String] = [:]) -> [String] {
        do throws(SettingsProblems) {
            _ = try read(toml, environment)
            return []
        } catch {
            return error.problems
        }
    }

    @Test("a table is read with its defaults: all events but schedule.due, tokens masked, the host as name")
    func defaults() throws {
        let settings = try read("[[webhooks]]\nurl = \"https://crm.example:8443/hook\"\nsecret = \"\(Self.secret)\"")
            .settings
        let webhook = try #require(settings.webhooks.first)
        #expect(webhook.name == "crm.example:8443")
        #expect(webhook.types == WebhookEventType.ofUnnamed)
        #expect(!webhook.includesTokens && webhook.scheduleUsers.isEmpty)
        #expect(!"\(settings)".contains(Self.secret))
    }

    @Test("incidents are named one by one or all at once; topics, texts and links are asked for")
    func incidents() throws {
        let head = "[[webhooks]]\nurl = \"https://a.example/\"\nsecret = \"\(Self.secret)\"\n"
        let all =
            head + """
                events = ["incident.*", "schedule.due"]
                topics = ["alerts"]
                include-texts = true
                include_actions = true
                """
        let webhook = try #require(try read(all).settings.webhooks.first)
        #expect(webhook.types == WebhookEventType.ofIncidents.union([.scheduleDue]))
        #expect(webhook.topics == ["alerts"] && webhook.includesTexts && webhook.includesActions)
        let one = try #require(try read(head + #"events = ["incident.opened"]"#).settings.webhooks.first)
        #expect(one.types == [.incidentOpened] && one.topics.isEmpty && !one.includesTexts && !one.includesActions)
        #expect(WebhookEventType.ofUnnamed.isDisjoint(with: WebhookEventType.ofIncidents))
        #expect(problems(head + #"events = ["incident.*x"]"#).first?.contains("incident.*") == true)
        #expect(problems(head + #"topics = ["alerts"]"#).first?.contains("incident.*") == true)
        #expect(problems(head + "events = [\"incident.*\"]\ntopics = []").first?.contains("topics") == true)
    }

    @Test("every member is read, several tables too, and secrets from files")
    func members() throws {
        let toml = """
            [[webhooks]]
            name = "a"
            url = "https://a.example/"
            secret_file = "a.secret"
            events = ["register_push_token"]
            include_tokens = true
            [[webhooks]]
            name = "b"
            url = "http://127.0.0.1:8080/"
            secret = "sixteen bytes or more"
            events = ["schedule.due"]
            schedule-users = ["ada", "u-1"]
            """
        let settings = try SettingsReader.read(
            flags: ["config": "tocsin.toml"],
            environment: ["TOCSIN_WEBHOOKS_ALLOW_LOOPBACK": "true"],
            files: TestFiles.make(["tocsin.toml": toml, "a.secret": Self.secret + "\n"])
        ).settings
        #expect(settings.webhooks.map(\.name) == ["a", "b"])
        #expect(settings.webhooks[0].types == [.registerPushToken] && settings.webhooks[0].includesTokens)
        #expect(settings.webhooks[1].scheduleUsers == ["ada", "u-1"])
        #expect(settings.webhooks[0].secret.contents == Self.secret)
    }

    @Test(
        "what cannot work is refused, each mistake with its table and what to write",
        arguments: [
            ("secret = \"S\"", "url is missing"), ("url = \"https://a.example\"", "secret is missing"),
            ("url = \"http://a.example\"\nsecret = \"S\"", "https://"),
            ("url = \"http://127.0.0.1/\"\nsecret = \"S\"", "TOCSIN_WEBHOOKS_ALLOW_LOOPBACK"),
            ("url = \"https://a.example\"\nsecret = \"short\"", "16"),
            ("url = \"https://a.example\"\nsecret = \"whsec_!!\"", "base 64"),
            ("url = \"https://a.example\"\nsecret = \"S\"\nevents = [\"nonsense\"]", "register_push_token"),
            ("url = \"https://a.example\"\nsecret = \"S\"\nevent = \"x\"", "event means nothing here"),
            (
                "url = \"https://a.example\"\nsecret = \"S\"\nevents = [\"schedule.due\"]\nschedule-users = [1]",
                "schedule-users must be a list"
            ),
            (
                "url = \"https://a.example\"\nsecret = \"S\"\nschedule-users = [\"ada\"]",
                "needs schedule.due among the events"
            ),
            ("url = \"https://user@a.example\"\nsecret = \"S\"", "url"),
        ]
    )
    func mistakes(table: String, part: String) {
        let text = table.replacing("\"S\"", with: "\"\(Self.secret)\"")
        let found = problems("[[webhooks]]\n" + text)
        #expect(found.count == 1 && found[0].hasPrefix("tocsin.toml: webhooks 1: "), "\(found)")
        #expect(found.first?.contains(part) == true, "\(found)")
        #expect(!found.joined().contains(Self.secret))
    }

    @Test("two webhooks of one name are refused")
    func names() {
        let table = "[[webhooks]]\nurl = \"https://a.example\"\nsecret = \"\(Self.secret)\"\n"
        #expect(problems(table + table).contains { $0.contains("two webhooks are called a.example") })
    }

    private static let privateKey = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
    private static let publicKey =
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"

    @Test("a VAPID pair that belongs together is taken")
    func vapid() throws {
        let settings = try read(
            "[vapid]\nsubject = \"mailto:ops@example.com\"",
            ["VAPID_PRIVATE_KEY": Self.privateKey, "VAPID_PUBLIC_KEY": Self.publicKey]
        ).settings
        #expect(settings.webPush.isConfigured)
        #expect(settings.webPush.subject == "mailto:ops@example.com")
    }

    @Test(
        "a VAPID set-up that cannot work is refused",
        arguments: [
            ["VAPID_PRIVATE_KEY": privateKey], ["VAPID_SUBJECT": "mailto:ops@example.com"],
            ["VAPID_PRIVATE_KEY": "nonsense", "VAPID_SUBJECT": "mailto:ops@example.com"],
            ["VAPID_PRIVATE_KEY": privateKey, "VAPID_SUBJECT": "ops@example.com"],
            ["VAPID_PRIVATE_KEY": privateKey, "VAPID_SUBJECT": "mailto:a@b.example", "VAPID_PUBLIC_KEY": "BAAA"],
            ["VAPID_PUBLIC_KEY": publicKey],
        ]
    )
    func badVAPID(_ environment: [String: String]) {
        let found = problems("", environment)
        #expect(!found.isEmpty)
        #expect(!found.joined().contains(Self.privateKey))
    }
}
