import Foundation
import JSON
import Testing
import TocsinClient

@Suite("Behind a proxy: a base path, and a socket in the file system", .timeLimit(.minutes(5)))
struct BasePathTests {
    @Test("GraphQL, sockets, REST routes, forms and cookies stand below the base path, over a socket too")
    func everything() async throws {
        let prepare = { (installation: Installation) in
            installation.options = [
                "--base-path", "/tocsin", "--host", "unix:\(installation.folder)/front.sock", "--socket-mode", "600",
            ]
            installation.environment["TOCSIN_PUBLIC_URL"] = "https://push.example.com"
        }
        try await Installation.run(prepare: prepare) { installation in
            let socket = installation.folder + "/front.sock"
            #expect(installation.address == "unix:" + socket)
            #expect(try FileManager.default.attributesOfItem(atPath: socket)[.posixPermissions] as? Int == 0o600)
            let token = try await installation.addUser("ada")
            func ask(_ path: String, _ arguments: [String] = []) async throws -> HTTPAnswer {
                let result = try await ChildProcess.run(
                    "/usr/bin/curl",
                    ["--silent", "--show-error", "--include", "--max-time", Patience.ofCurl, "--unix-socket", socket]
                        + arguments + ["http://push.example.com" + path],
                    environment: TestBinary.environment,
                    folder: installation.folder
                )
                guard result.status == 0 else { throw HarnessFailure("\(path): \(result.errors)") }
                return try HTTPAnswer(result.output)
            }
            for path in ["/tocsin/readyz", "/tocsin/livez", "/tocsin/auth/methods", "/tocsin/client/tocsin.js"] {
                #expect(try await ask(path).status == 200, "\(path)")
            }
            let methods = try await ask("/tocsin/auth/methods").json
            #expect(methods["address"] == "https://push.example.com/tocsin", "a page elsewhere can say where to go")
            for path in ["/readyz", "/graphql", "/auth/methods", "/tocsinx/readyz"] {
                #expect(try await ask(path).status == 404, "\(path)")
            }
            let mine = ["--header", "Authorization: Bearer \(token)", "--json", #"{"query":"{ me { username } }"}"#]
            #expect(try await ask("/tocsin/graphql", mine).json["data"]?["me"]?["username"] == "ada")
            #expect(try await ask("/tocsin/auth/setup").body.contains(#"action="/tocsin/auth/setup""#))
            let setup = installation.logLines.compactMap { $0["address"]?.stringValue }
            #expect(setup.contains("https://push.example.com/tocsin/auth/setup"), "\(setup)")
            try await Self.checkConsole { try await ask($0, $1) }
            try await Self.checkCookie(installation) { try await ask($0, $1) }
        }
    }

    /// Browsers get the console, whose files are below the base path too; others get what they got.
    private static func checkConsole(_ ask: (String, [String]) async throws -> HTTPAnswer) async throws {
        let html = ["--header", "Accept: text/html,application/xhtml+xml,*/*;q=0.8"]
        for path in ["/tocsin/", "/tocsin/topics/1/settings"] {
            let page = try await ask(path, html)
            #expect(page.status == 200, "\(path)")
            #expect(page.header("content-security-policy")?.contains("require-trusted-types-for 'script'") == true)
        }
        let page = try await ask("/tocsin/", html).body
        let place = try #require(page.firstMatch(of: /src="(\/tocsin\/assets\/[0-9a-f]+\/)app\.js"/)?.1)
        let script = try await ask(place + "app.js", [])
        #expect(script.status == 200 && script.header("cache-control")?.contains("immutable") == true)
        #expect(script.header("content-type")?.hasPrefix("text/javascript") == true)
        #expect(try await ask(place + "app.css", ["--compressed"]).header("content-encoding") == "gzip")
        #expect(try await ask("/tocsin/assets/0/api.js", []).header("cache-control") == "no-cache")
        #expect(try await ask(place + "..%2fapi.js", []).status == 404)
        #expect(try await ask("/tocsin/sw.js", []).body.contains("showNotification"))
        for path in ["/tocsin/", "/tocsin/feed"] {
            let answer = try await ask(path, [])
            #expect(answer.status == 404)
            #expect(try answer.json.errorCode == "BAD_REQUEST", "\(answer.body)")
        }
    }

    /// The first administrator, made by the code of the log, gets a cookie for the base path alone.
    private static func checkCookie(
        _ installation: Installation,
        _ ask: (String, [String]) async throws -> HTTPAnswer
    ) async throws {
        let codes = installation.logLines.compactMap { $0["setup_code"]?.stringValue }
        let code = try #require(codes.first)
        let form = "code=\(code)&username=root&password=correct-horse-battery"
        let made = try await ask("/tocsin/auth/setup", ["--data", form])
        #expect(made.status == 201, "\(made.body)")
        #expect(made.body.contains(#"<a href="/tocsin/">Sign in</a>"#), "\(made.body)")
        let answer = try await ask(
            "/tocsin/auth/password",
            [
                "--header", "X-Tocsin-Console: 1", "--header", "Origin: https://push.example.com", "--json",
                #"{"username":"root","password":"correct-horse-battery"}"#,
            ]
        )
        #expect(answer.status == 204, "\(answer.body)")
        let cookie = try #require(answer.header("set-cookie"))
        #expect(cookie.hasPrefix("__Secure-tocsin=") && cookie.contains("; Path=/tocsin; "), "\(cookie)")
    }

    @Test("a client follows and publishes with the base path in its address")
    func client() async throws {
        let prepare = { (installation: Installation) in
            installation.options = ["--base-path", "/tocsin", "--console", "off"]
        }
        try await Installation.run(prepare: prepare) { installation in
            #expect(installation.address.hasSuffix("/tocsin"))
            let page = try await installation.http("/feed", ["--header", "Accept: text/html"])
            #expect(page.status == 404, "without the console there is no page")
            let token = try await installation.addUser("ada")
            let client = try TocsinClient(url: installation.address + "/graphql", token: token)
            let topicID = try await client.makeTopic(named: "alerts")
            let listener = Listener(client, "subscription { onCreateMessage { id title } }", field: "onCreateMessage")
            try await listener.untilLive()
            _ = try await client.publish(topic: .id(topicID), title: "below")
            try await eventually("the message comes") { !listener.events.isEmpty }
            let route = try await installation.http(
                "/tcm/create-message",
                token: token,
                ["--json", #"{"topic": "alerts", "title": "by a route"}"#]
            )
            #expect(route.status == 200 || route.status == 201, "\(route.body)")
        }
    }
}
