import Foundation
import JSON
import Testing

@Suite("Sign-in by password", .timeLimit(.minutes(5)))
struct PasswordSignInTests {
    private static let password = "correct horse battery"
    private static let me = "{ me { username } }"

    private static func signIn(
        _ installation: Installation,
        _ name: String,
        _ password: String
    ) async throws -> HTTPAnswer {
        let document = """
            mutation($name: String!, $password: String!) {
              signIn(username: $name, password: $password, device: "test") { token sessionId username }
            }
            """
        let body: JSONValue = [
            "query": .string(document), "variables": ["name": .string(name), "password": .string(password)],
        ]
        return try await installation.http(
            "/graphql",
            [
                "--header", "Content-Type: application/json", "--header",
                "Accept: application/graphql-response+json", "--data-binary", body.serializedString(),
            ]
        )
    }

    @Test("E7: the first administrator is made by the code of the first start, once, and signs in as an app")
    func apps() async throws {
        try await Installation.run { installation in
            let wrong = try await BrowserScene.setUp(
                installation,
                code: "aaaaaaaaaaaaaaaaaaaaaaaaaa",
                name: "root",
                password: Self.password
            )
            #expect(wrong.status == 403)
            #expect(wrong.body.contains(#"required value="root""#), "what was typed stays: \(wrong.body)")
            let made = try await BrowserScene.setUp(installation, name: "root", password: Self.password)
            #expect(made.status == 201, "\(made)")
            let again = try await BrowserScene.setUp(installation, name: "root2", password: Self.password)
            #expect(again.status == 403)
            #expect(try await installation.http("/auth/setup").status == 404)

            let good = try await Self.signIn(installation, "root", Self.password).json["data"]?["signIn"]
            let token = try #require(good?["token"]?.stringValue, "\(String(describing: good))")
            let answer = try await installation.curl("{ me { username admin } }", token: token)
            #expect(answer["data"]?["me"] == ["username": "root", "admin": true], "\(answer)")

            let ada = try await installation.addUser("ada")
            let end = { (id: String) in
                try await installation.curl("mutation { endSession(id: \"\(id)\") { id } }", token: ada)
            }
            let foreign = try await end(good?["sessionId"]?.stringValue ?? "")
            #expect(foreign.errorCode == "UNAUTHORIZED")
            #expect(try await end("01a2083d-1db6-72d0-9836-ed216da03b7d") == foreign)

            let unknown = try await Self.signIn(installation, "nobody", Self.password)
            let bad = try await Self.signIn(installation, "root", "wrong horse battery")
            #expect(unknown.status == 200 && unknown.body == bad.body)
            #expect(try bad.json.errorCode == "UNAUTHENTICATED")
            try await eventually("both refusals are in the audit") {
                try await BrowserScene.auditedRefusals(installation).suffix(2) == ["unknown_user", "wrong_password"]
            }
            #expect(BrowserScene.refusals(installation).suffix(2) == ["unknown_user", "wrong_password"])

            let renewed = try await installation.curl("mutation { refreshSession { token } }", token: token)
            let newer = try #require(renewed["data"]?["refreshSession"]?["token"]?.stringValue, "\(renewed)")
            for good in [token, newer] {
                #expect(try await installation.curl(Self.me, token: good)["data"]?["me"] != nil)
            }
            let socket = try await RawSocket(installation, token: newer)
            try await socket.untilReady()
            let out = try await installation.curl("mutation { signOut }", token: newer)
            #expect(out["data"]?["signOut"] == true, "\(out)")
            #expect(try await socket.untilClosed() == 4403)
            let ended = try await installation.curl(Self.me, token: newer)
            #expect(ended.errorCode == "UNAUTHENTICATED")
        }
    }

    @Test("whoever shows nothing may sign in and nothing else: all other documents are answered as unread")
    func strangers() async throws {
        try await Installation.run { installation in
            func ask(_ document: String) async throws -> HTTPAnswer {
                let body: JSONValue = ["query": .string(document)]
                return try await installation.http(
                    "/graphql",
                    ["--header", "Content-Type: application/json", "--data-binary", body.serializedString()]
                )
            }
            let reference = try await ask(Self.me)
            #expect(reference.status == 401)
            let others = [
                "{ __schema { types { name } } }", "{ nonsense", "query { sessions { id } }", "mutation { signOut }",
                "mutation { signIn(username: \"a\", password: \"b\") { token } createTopic(input: {name: \"x\"}) { id } }",
                "mutation { a: signIn(username: \"a\", password: \"b\") { token } b: signIn(username: \"a\", "
                    + "password: \"c\") { token } c: signIn(username: \"a\", password: \"d\") { token } }",
            ]
            for document in others {
                let answer = try await ask(document)
                #expect(answer.status == 401 && answer.body == reference.body, "\(document): \(answer.body)")
            }
            let two = try await ask(
                "mutation { a: signIn(username: \"a\", password: \"b\") { token } b: signIn(username: \"a\", "
                    + "password: \"c\") { token } }"
            )
            #expect(two.status == 401)
        }
    }

    @Test("a browser's session counts only with all that its own pages send, and on its own socket")
    func cookies() async throws {
        try await Installation.run { installation in
            _ = try await BrowserScene.setUp(installation, name: "root", password: Self.password)
            var browser = BrowserScene(installation)
            let credentials: JSONValue = ["username": "root", "password": .string(Self.password)]
            for lack in ["X-Tocsin-Console", "Content-Type"] {
                var headers = browser.own
                headers[lack] = lack == "Content-Type" ? "text/plain" : nil
                let refused = try await browser.post("/auth/password", credentials, headers)
                #expect(refused.status == 403, "\(lack)")
                // There is no cookie yet.
                let text = "A request that signs in or has a session's cookie needs the header \(lack): "
                #expect(refused.body.contains(text), "\(refused)")
            }
            let signedIn = try await browser.post("/auth/password", credentials)
            #expect(signedIn.status == 204, "\(signedIn)")
            let set = try #require(signedIn.header("set-cookie"))
            #expect(set.hasPrefix("tocsin=") && set.hasSuffix("; HttpOnly; SameSite=Strict"), "\(set)")
            #expect(set.contains("; Path=/;") && !set.contains("Domain"))
            #expect(signedIn.header("cache-control") == "no-store")
            #expect(signedIn.header("referrer-policy") == "no-referrer")
            browser.take(signedIn)

            let query: JSONValue = ["query": .string(Self.me)]
            let answer = try await browser.post("/graphql", query)
            #expect(answer.status == 200 && answer.body.contains("root"), "\(answer)")
            var sameOrigin = browser.own
            sameOrigin["Sec-Fetch-Site"] = nil
            #expect(try await browser.post("/graphql", query, sameOrigin).status == 200)
            try await expectRefused(browser, query)
            let get = try await browser.get("/graphql?query=%7Bme%7Busername%7D%7D", browser.own)
            #expect(get.status == 401)
            var withToken = browser.own
            withToken["Authorization"] = "Bearer nonsense"
            #expect(try await browser.post("/graphql", query, withToken).status == 401)

            let methods = try await browser.get("/auth/methods", [:])
            #expect(try methods.json == ["password": true, "oidc": []], "no address is told where none is set")
            let session = try await browser.get("/auth/session")
            #expect(try session.json["user"]?["name"] == "root", "\(session)")
            #expect(try await browser.get("/auth/session", [:]).status == 403)
            try await expectSockets(browser)

            let raised = try await browser.post("/auth/elevate", ["password": .string(Self.password)])
            #expect(raised.status == 200 && raised.body.contains("elevatedUntil"), "\(raised)")
            #expect(try await browser.post("/auth/elevate", ["password": "wrong horse"]).status == 401)
            let out = try await browser.post("/auth/logout")
            #expect(out.status == 200 && out.header("set-cookie")?.contains("Max-Age=0") == true, "\(out)")
            #expect(try await browser.post("/graphql", query).status == 401)
            let foreign = { (reasons: [String]) in reasons.filter { $0 == "page_refused" }.count }
            let told = foreign(BrowserScene.refusals(installation))
            // Three below /auth/, eight at /graphql, a socket: ten are told within a minute.
            #expect((10...12).contains(told), "\(told)")
            try await eventually("what no page of ours sends has its rows") {
                foreign(try await BrowserScene.auditedRefusals(installation)) == told
            }
        }
    }

    private func expectRefused(_ browser: BrowserScene, _ query: JSONValue) async throws {
        let changes: [(String, String?)] = [
            ("X-Tocsin-Console", nil), ("X-Tocsin-Console", "2"), ("Sec-Fetch-Site", "same-site"),
            ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "none"),
        ]
        for (name, value) in changes {
            var headers = browser.own
            headers[name] = value
            let answer = try await browser.post("/graphql", query, headers)
            #expect(answer.status == 403 && answer.body.contains(name), "\(name) \(value ?? ""): \(answer)")
        }
        for origin in ["http://127.0.0.1:1", "https://evil.example", nil] {
            var headers = browser.own
            (headers["Sec-Fetch-Site"], headers["Origin"]) = (nil, origin)
            #expect(try await browser.post("/graphql", query, headers).status == 403, "\(origin ?? "none")")
        }
        var form = browser.own
        form["Content-Type"] = "application/x-www-form-urlencoded"
        #expect([403, 415].contains(try await browser.post("/graphql", query, form).status))
    }

    private func expectSockets(_ browser: BrowserScene) async throws {
        let cookie = try #require(browser.cookie)
        let port = browser.installation.server?.port ?? 0
        for (origin, isOurs) in [(browser.origin, true), ("http://evil.example", false), ("", false)] {
            let connection = try RawConnection(port: port)
            let line = origin.isEmpty ? "" : "Origin: \(origin)\r\n"
            try connection.send(
                "GET /graphql HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\(line)"
                    + "Cookie: \(cookie)\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                    + "Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"
            )
            try await eventually("the server answers the upgrade") {
                connection.look()
                return String(decoding: connection.received, as: UTF8.self).contains("\r\n\r\n")
            }
            let head = String(decoding: connection.received, as: UTF8.self)
            #expect(head.hasPrefix(origin.contains("evil") ? "HTTP/1.1 403" : "HTTP/1.1 101"), "\(origin): \(head)")
            guard head.hasPrefix("HTTP/1.1 101") else { continue }
            let text = Array(#"{"type":"connection_init"}"#.utf8)
            try connection.send([0x81, 0x80 | UInt8(text.count), 0, 0, 0, 0] + text)
            try await eventually("the socket is taken or closed") {
                connection.look()
                let said = String(decoding: connection.received, as: UTF8.self)
                return said.contains("connection_ack") == isOurs && (isOurs || said.contains("Unauthorized"))
            }
        }
    }
}
