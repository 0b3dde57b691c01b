import Foundation
import JSON
import Testing
import TocsinClient
import TocsinStore

@Suite("The log of the built server", .timeLimit(.minutes(5)))
struct LogTests {
    private static let graphQL = [
        "--header", "Content-Type: application/json", "--header", "Accept: application/graphql-response+json",
    ]

    @Test("forty secrets that go through the server stand in no line of its log, whatever its level")
    func secrets() async throws {
        var secrets = PlantedSecrets()
        let receiver = try Receiver { _, _ in 500 }
        try await Installation.run(prepare: { installation in
            try Self.set(up: installation, receiver, &secrets)
        }) { installation in
            let ada = try await installation.addUser("ada")
            _ = secrets.plant("access token", String(ada.suffix(24)))
            try secrets.plantKey("server key", file: installation.folder + "/data/server.key")
            let topic = try await installation.makeClient(token: ada).makeTopic(named: "alerts")
            try await Self.push(installation, ada, topic, &secrets)
            try await Self.signIn(installation, &secrets)
            try await Self.ask(installation, ada, &secrets)
            try await Self.openSockets(installation, ada, &secrets)
            try await eventually("the webhook's refusal is logged") {
                installation.logLines.contains { $0["event"] == "webhook_retrying" }
            }
            let metrics = try await installation.makeMetricsToken(user: "ada")
            let told = [
                "/metrics": try await installation.http("/metrics", token: metrics).body,
                "/readyz?verbose": try await installation.http("/readyz?verbose").body,
                "the audit": try await installation.administer(["audit", "list", "--limit", "0", "--json"]),
            ]
            for (place, text) in told {
                #expect(text.count > 20, "\(place)")
                let found = secrets.found(in: text)
                #expect(found.isEmpty, "\(place): \(found)")
            }
            #expect(try await installation.stopServer() == 0)

            #expect(secrets.all.count >= 40 && Set(secrets.all.map(\.secret)).count == secrets.all.count)
            #expect(secrets.all.allSatisfy { $0.secret.count >= 20 }, "\(secrets.all)")
            let found = secrets.found(in: installation.log)
            #expect(found.isEmpty, "\(found)")
            let events = Set(installation.logLines.compactMap { $0["event"]?.stringValue })
            for event in [
                "starting", "request", "socket_closed", "sign_in_refused", "delivery", "device_retired",
                "webhook_retrying", "stopped",
            ] {
                #expect(events.contains(event), "\(event) is not in \(events.sorted())")
            }
            for line in installation.logLines where ["delivery", "device_retired"].contains(line["event"]) {
                for key in ["delivery_id", "message_id", "device_id"] {
                    #expect(line[key]?.stringValue?.isEmpty == false, "\(key): \(line)")
                }
            }
            for line in installation.log.split(separator: "\n") {
                let line = try JSONParser.parse(String(line))
                for key in ["time", "level", "event", "message", "node"] {
                    #expect(line[key]?.stringValue != nil, "\(line)")
                }
                for key in ["status", "bytes", "count", "attempts", "code", "port"] {
                    guard let value = line[key] else { continue }
                    #expect(value.intValue != nil, "\(key): \(line)")
                }
            }
        }
    }

    /// What stands in settings and key files.
    private static func set(
        up installation: Installation,
        _ receiver: Receiver,
        _ secrets: inout PlantedSecrets
    ) throws {
        let webhook = Data((1...32).map { UInt8($0 * 3) })
        let query = secrets.plant("key in a webhook's address")
        let table = """
            [[webhooks]]
            name = "crm"
            url = "http://127.0.0.1:\(receiver.port)/crm?key=\(query)"
            secret = "whsec_\(secrets.plant("webhook's secret", webhook.base64EncodedString()))"
            events = ["unregister_push_token"]
            include-tokens = true
            """
        let file = installation.folder + "/tocsin.toml"
        try table.write(toFile: file, atomically: true, encoding: .utf8)
        installation.options += ["--config", file]
        installation.environment["TOCSIN_WEBHOOKS_ALLOW_LOOPBACK"] = "true"
        installation.environment["TOCSIN_LOG_LEVEL"] = "trace"
        installation.environment["TOCSIN_LOG_DELIVERIES"] = "true"
        installation.environment["TOCSIN_JWT_HS256_SECRET"] =
            secrets.plant("secret of JWTs") + "-of-enough-bytes-for-it"
        installation.environment["TOCSIN_JWT_ISSUER"] = "https://issuer.example"
        installation.environment["TOCSIN_JWT_AUDIENCE"] = "app"
        // Nobody is there, so that a sign-in fails with a reason.
        installation.environment["TOCSIN_OIDC_ISSUER"] = "http://127.0.0.1:9"
        installation.environment["TOCSIN_OIDC_CLIENT_ID"] = "tocsin"
        installation.environment["TOCSIN_OIDC_CLIENT_SECRET"] = secrets.plant("client secret of a sign-in provider")
        installation.environment["TOCSIN_PUBLIC_URL"] = "http://localhost:8080"
        try secrets.plantKey("Apple's key", file: installation.environment["APNS_AUTH_KEY_PATH"])
        try secrets.plantKey("Google's key", file: installation.environment["GOOGLE_APPLICATION_CREDENTIALS"])
        try secrets.plantKey("key of Web Push", file: installation.environment["VAPID_PRIVATE_KEY_FILE"])
    }

    /// Devices, messages and pushes of them, one of which ends its token.
    private static func push(
        _ installation: Installation,
        _ ada: String,
        _ topic: String,
        _ secrets: inout PlantedSecrets
    ) async throws {
        let browser = try await installation.simulator?.subscribe()
        for (what, value) in [
            ("endpoint of a browser", browser?["endpoint"]), ("key of a browser", browser?["keys"]?["p256dh"]),
            ("secret of a browser", browser?["keys"]?["auth"]),
        ] {
            _ = secrets.plant(what, try #require(value?.stringValue))
        }
        let phones = [
            ("ios", secrets.plantHexadecimal("token of an iPhone", "a1")),
            ("ios", secrets.plantHexadecimal("token that Apple ends", "dead")),
            ("android", secrets.plant("token of an Android phone")),
            ("web", browser?.serializedString() ?? ""),
            ("ios", secrets.plant("token of a wrong form") + " \u{1F4F1}"),
            ("fridge", secrets.plantHexadecimal("token for no platform", "f1")),
        ]
        let register = "mutation($t: String!, $p: String!) { registerPushToken(token: $t, platform: $p) { userId } }"
        for (platform, token) in phones {
            _ = try await installation.curl(register, ["t": .string(token), "p": .string(platform)], token: ada)
        }
        let create = "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }"
        let message: JSONValue = [
            "topicId": .string(topic), "type": 1, "title": .string(secrets.plant("title")),
            "body": .string(secrets.plant("body")), "key": .string(secrets.plant("key of an event")),
            "url": .string("https://a.example/" + secrets.plant("link")),
            "data": .string(#"{"secret":"\#(secrets.plant("data"))"}"#),
            "push": ["image": .string("https://a.example/" + secrets.plant("image"))],
        ]
        let made = try await installation.curl(create, ["i": message], token: ada)
        let id = try #require(made["data"]?["createMessage"]?["id"]?.stringValue, "\(made)")
        let state = "query($id: ID!) { getMessage(id: $id) { deliverySummary { state } } }"
        try await eventually("the pushes are settled") {
            let answer = try await installation.curl(state, ["id": .string(id)], token: ada)
            return answer["data"]?["getMessage"]?["deliverySummary"]?["state"] != "PENDING"
        }
        let rest: JSONValue = [
            "topic_id": .string(topic), "title": .string(secrets.plant("title by REST")),
            "message": .string(secrets.plant("body by REST")),
        ]
        _ = try await installation.http("/tcm/create-message", token: ada, ["--json", rest.serializedString()])
    }

    /// Passwords, codes, cookies and what else a sign-in has.
    private static func signIn(_ installation: Installation, _ secrets: inout PlantedSecrets) async throws {
        let password = try await installation.administer(["user", "password", "ada", "--generate"])
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let mutation = "mutation($u: String!, $p: String!) { signIn(username: $u, password: $p) { token } }"
        for (user, password) in [
            ("ada", secrets.plant("password", password)), ("ada", secrets.plant("wrong password")),
            (secrets.plant("password in place of a name"), "x"),
        ] {
            let body: JSONValue = [
                "query": .string(mutation), "variables": ["u": .string(user), "p": .string(password)],
            ]
            let answer = try await installation.http("/graphql", graphQL + ["--data-binary", body.serializedString()])
            guard let token = try answer.json["data"]?["signIn"]?["token"]?.stringValue else { continue }
            _ = secrets.plant("session's token", token)
            _ = try await installation.curl("mutation { refreshSession { token } }", token: token)
        }
        let setUp = secrets.plant("wrong set-up code")
        _ = try await BrowserScene.setUp(
            installation,
            code: setUp,
            name: "root",
            password: secrets.plant("first password")
        )
        let own = ["--header", "X-Tocsin-Console: 1", "--header", "Content-Type: application/json"]
        let body: JSONValue = ["username": "ada", "password": .string(secrets.plant("password of a browser"))]
        _ = try await installation.http("/auth/password", own + ["--data-binary", body.serializedString()])
        _ = try await installation.http("/auth/login?return=/" + secrets.plant("way back"))
        let (state, code) = (secrets.plant("login state"), secrets.plant("authorization code"))
        let cookie = "tocsin-login-\(state.prefix(8))=\(secrets.plant("login cookie"))"
        _ = try await installation.http(
            "/auth/callback?state=\(state)&code=\(code)&session_state=\(secrets.plant("session state"))",
            ["--header", "Cookie: \(cookie)"]
        )
        for name in ["tocsin", "__Host-tocsin"] {
            let session = "Cookie: \(name)=\(secrets.plant("session cookie \(name)"))"
            _ = try await installation.http("/auth/session", own + ["--header", session])
            _ = try await installation.http(
                "/graphql",
                graphQL + ["--header", session, "--data-binary", #"{"query":"{ me { userId } }"}"#]
            )
        }
    }

    /// Credentials in every place that people put them, and requests that are refused.
    private static func ask(
        _ installation: Installation,
        _ ada: String,
        _ secrets: inout PlantedSecrets
    ) async throws {
        let me = graphQL + ["--data-binary", #"{"query":"{ me { userId } }"}"#]
        let key = try await installation.administer(["key", "create"]).trimmingCharacters(in: .whitespacesAndNewlines)
        let claims = Data(#"{"iss":"https://issuer.example","sub":"\#(UUID())"}"#.utf8).base64EncodedString()
        for header in [
            "X-Api-Key: \(secrets.plant("API key", key))", "X-Api-Key: \(secrets.plant("wrong API key"))",
            "Authorization: Bearer \(secrets.plant("wrong token"))",
            "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.\(claims).\(secrets.plant("signature of a JWT"))",
            "Authorization: Basic \(secrets.plant("name and password"))",
            "Proxy-Authorization: \(secrets.plant("proxy's password"))",
            "Referer: https://a.example/?token=\(secrets.plant("token in a referer"))",
            "X-Forwarded-For: \(secrets.plant("what is no address"))",
            "X-Request-Id: \(secrets.plant("id that is no id")) !",
            "User-Agent: \(secrets.plant("token in a program's name"))",
        ] {
            _ = try await installation.http("/graphql", me + ["--header", header])
        }
        _ = try await installation.http("/graphql?access_token=\(secrets.plant("token in a query string"))", me)
        _ = try await installation.http("/nowhere?key=\(secrets.plant("key of no path"))")
        for body in [
            #"{"query":"{ me { \#(secrets.plant("broken document")) ""#,
            #"{"query":"{ getTopic(id: \"\#(secrets.plant("argument"))\") { nothing } }"}"#,
            #"{"query":"query($n: Int!) { me { userId } }","variables":{"n":"\#(secrets.plant("variable"))"}}"#,
            #"{"query":"{ me { userId } }","extensions":{"x":"\#(secrets.plant("extension"))"}}"#,
        ] {
            _ = try await installation.http("/graphql", token: ada, graphQL + ["--data-binary", body])
        }
    }

    private static func openSockets(
        _ installation: Installation,
        _ ada: String,
        _ secrets: inout PlantedSecrets
    ) async throws {
        let bad = try await RawSocket(installation, token: secrets.plant("wrong token of a socket"))
        _ = try await bad.untilClosed()
        let header = Data(#"{"host":"a","Authorization":"\#(secrets.plant("token in AppSync's header"))"}"#.utf8)
            .base64EncodedString()
        let appSync = try await RawSocket(
            installation,
            path: "/graphql/realtime?header=\(secrets.plant("AppSync's header", header))&payload=e30=",
            subprotocols: "graphql-ws"
        )
        try appSync.send(["type": "connection_init"])
        _ = try await appSync.untilClosed()
        let good = try await RawSocket(installation, token: ada)
        let filter =
            "subscription { onCreateMessage(filter: { title: { eq: \"\(secrets.plant("filter"))\" } }) { id } }"
        try await good.subscribe(filter)
    }

    @Test("a request that a proxy passes on has one id and one client in answer, log and audit")
    func forwarded() async throws {
        try await Installation.run { installation in
            let ada = try await installation.addUser("ada")
            let body =
                #"{"query":"mutation M { createTopic(input: { name: \"alerts\" }) { id } }","operationName":"M"}"#
            let answer = try await installation.http(
                "/graphql",
                token: ada,
                Self.graphQL + [
                    "--header", "X-Request-Id: proxy.7", "--header", "X-Forwarded-For: 10.0.0.1, 192.0.2.7",
                    "--data-binary", body,
                ]
            )
            #expect(answer.status == 200 && answer.header("x-request-id") == "proxy.7", "\(answer)")
            let own = try await installation.http("/healthz").header("x-request-id") ?? ""
            #expect(own.wholeMatch(of: /[0-9a-f]{6}-[0-9]+-1/) != nil, "\(own)")
            let lines = try await eventually("both requests are logged") { () -> [JSONValue]? in
                let lines = installation.logLines.filter { $0["event"] == "request" }
                return lines.contains { $0["request_id"] == .string(own) } ? lines : nil
            }
            let line = try #require(lines.first { $0["request_id"] == "proxy.7" }, "\(lines)")
            #expect(line["client_address"] == "192.0.2.7" && line["operation"] == "M" && line["status"] == 200)
            #expect(line["user"]?.stringValue?.isEmpty == false && line["bytes"]?.intValue ?? 0 > 0)
            #expect(line["duration_ms"]?.doubleValue ?? 0 > 0, "\(line)")
            let text = try await installation.administer(["audit", "list", "--json", "--action", "topic.create"])
            let row = try JSONParser.parse(text.trimmingCharacters(in: .whitespacesAndNewlines))
            #expect(row["requestId"] == "proxy.7" && row["network"] == "192.0.2.0/24", "\(row)")

            let connection = try installation.database.connect(.tool)
            defer { connection.close() }
            try connection.execute(script: "ALTER TABLE devices RENAME TO devices_away")
            let failed = try await installation.http(
                "/graphql",
                token: ada,
                Self.graphQL + ["--data-binary", #"{"query":"{ devices { id } }"}"#]
            )
            let (error, id) = (try failed.json["errors"]?[0], failed.header("x-request-id") ?? "")
            #expect(try failed.json.errorCode == "INTERNAL" && !id.isEmpty, "\(failed)")
            #expect(error?["extensions"]?["requestId"] == .string(id), "\(failed)")
            let failure = try await eventually("the failure is logged") {
                installation.logLines.first { $0["event"] == "internal_failure" && $0["request_id"] == .string(id) }
            }
            let shown = try #require(failure["failure_id"]?.stringValue)
            #expect(error?["message"]?.stringValue?.contains(shown) == true, "\(failed)")

            installation.server?.process.signal(SIGUSR1)
            try await eventually("the level is another one") {
                installation.logLines.contains { $0["event"] == "log_level_changed" && $0["new_level"] == "debug" }
            }
            installation.server?.process.signal(SIGUSR2)
            try await eventually("the level is the usual one") {
                installation.logLines.contains { $0["event"] == "log_level_restored" && $0["new_level"] == "info" }
            }
        }
    }

    @Test("in the journal lines have priorities, and while a database is away its password stands in none of them")
    func journal() async throws {
        var secrets = PlantedSecrets()
        let folder = NSTemporaryDirectory() + "tocsin-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/journal"
        let journal = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(journal) }
        var status = stat()
        try #require(fstat(journal, &status) == 0)
        let server = try await ServerProcess(
            folder: folder,
            port: 0,
            environment: [
                "TOCSIN_DATABASE_URL": "postgres://ada:\(secrets.plant("database's password"))@127.0.0.1:9/tocsin",
                "TOCSIN_LOG_LEVEL": "trace", "JOURNAL_STREAM": "\(status.st_dev):\(status.st_ino)",
            ],
            errorDescriptor: journal
        )
        defer { server.process.signal(SIGKILL) }
        try await eventually("the database is awaited") {
            let log = try String(contentsOfFile: path, encoding: .utf8)
            return log.contains(#""event":"database_awaited""#) && log.contains(#""event":"listening""#)
        }
        let log = try String(contentsOfFile: path, encoding: .utf8)
        #expect(secrets.found(in: log).isEmpty)
        for line in log.split(separator: "\n") {
            #expect(line.prefixMatch(of: /<[2-7]>\{"time":/) != nil, "\(line)")
            #expect(line.hasPrefix("<4>") == line.contains(#""level":"warning""#), "\(line)")
        }
    }
}
