import Foundation
import JSON
import Testing
import TocsinClient

@Suite("GraphQL over HTTP, as served", .timeLimit(.minutes(5)))
struct HTTPTests {
    @Test("GET runs queries, and answers a mutation with 405 without running it")
    func get() async throws {
        try await Installation.run { installation in
            let token = try await installation.addUser("ada")
            let query = "query Who($n: Int) { me { username } listTopics(limit: $n) { items { name } } }"
            let answer = try await Self.get(query, ["--data-urlencode", #"variables={"n":5}"#], token, installation)
            #expect(answer.status == 200)
            #expect(try answer.json == ["data": ["me": ["username": "ada"], "listTopics": ["items": []]]])

            let mutation = #"mutation { createTopic(input: { name: "made" }) { id } }"#
            let refused = try await Self.get(mutation, [], token, installation)
            #expect(refused.status == 405)
            #expect(refused.header("allow") == "POST")
            #expect(try refused.json["data"] == nil)
            let topics = try await installation.curl("{ listTopics { items { name } } }", token: token)
            #expect(topics == ["data": ["listTopics": ["items": []]]])
        }
    }

    @Test(
        "what an HTML form can send is refused with 415, and so is a POST that does not say it is JSON",
        arguments: [
            "application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", "application/xml",
            "application/json; charset=latin1", "",
        ]
    )
    func contentTypes(type: String) async throws {
        try await Installation.run { installation in
            let token = try await installation.addUser("ada")
            let body = #"{"query":"mutation { createTopic(input: { name: \"made\" }) { id } }"}"#
            let header = ["--header", type.isEmpty ? "Content-Type:" : "Content-Type: \(type)", "--data-binary", body]
            let answer = try await installation.http("/graphql", token: token, header)
            #expect(answer.status == 415, "\(answer.body)")
            let topics = try await installation.curl("{ listTopics { items { name } } }", token: token)
            #expect(topics == ["data": ["listTopics": ["items": []]]])
        }
    }

    @Test("a body that is too large is refused with 413, with its length and without, and the server goes on")
    func tooLarge() async throws {
        try await Installation.run { installation in
            let token = try await installation.addUser("ada")
            let path = installation.folder + "/large.json"
            try Data(repeating: UInt8(ascii: " "), count: 16 << 20).write(to: URL(fileURLWithPath: path))
            let body = ["--header", "Content-Type: application/json", "--data-binary", "@" + path]
            for more in [[], ["--header", "Transfer-Encoding: chunked"], ["--header", "Expect:"]] {
                let answer = try await installation.http("/graphql", token: token, body + more)
                #expect(answer.status == 413, "\(more): \(answer.body)")
            }
            let next = try await installation.curl("{ me { username } }", token: token)
            #expect(next == ["data": ["me": ["username": "ada"]]])
        }
    }

    @Test("the health paths answer anybody, and tell nothing secret")
    func health() async throws {
        try await Installation.run { installation in
            let live = try await installation.http("/healthz")
            #expect(live.status == 200)
            #expect(try live.json == ["status": "ok"])
            let ready = try await installation.http("/readyz")
            #expect(ready.status == 200)
            #expect(ready.header("content-type")?.hasPrefix("application/json") == true)
            let report = try ready.json
            #expect(report["status"] == "ok")
            #expect(report["database"]?.stringValue?.isEmpty == false)
            #expect((report["migration"]?.intValue ?? 0) >= 1)
            #expect(report["push"] == ["apns": "configured", "fcm": "configured", "webpush": "configured"])
            #expect(report.objectValue?.keys.sorted() == ["database", "migration", "push", "status"])
            #expect(try await installation.http("/readyz", ["--data", "x"]).status == 405)
            #expect(try await installation.http("/elsewhere").status == 404)
        }
    }

    @Test("who asks more often than the rate allows is told when to come again, on every path, and others are served")
    func rate() async throws {
        try await Installation.run {
            $0.options += ["--rate-per-second", "0.001", "--rate-burst", "2"]
        } _: { installation in
            let ada = try await installation.addUser("ada")
            let bob = try await installation.addUser("bob")
            let socket = try await RawSocket(installation, token: ada)
            #expect(try await socket.isAcknowledged())
            for _ in 0..<2 { _ = try await installation.curl("{ me { username } }", token: ada) }

            for query in ["query={ me { username } }", "query={ nothing }"] {
                let refused = try await installation.http("/graphql", token: ada, ["--get", "--data-urlencode", query])
                #expect(refused.status == 429, "\(refused.body)")
                #expect((refused.header("retry-after").flatMap(Int.init) ?? 0) > 900)
                #expect(try refused.json["errors"]?[0]?["errorType"] == "LimitExceededError")
            }
            let route = try await installation.http("/api/notifications/history", token: ada)
            #expect(route.status == 429 && route.header("retry-after") != nil)
            #expect(try route.json["error"]?["code"] == "LIMIT")
            try socket.send(["id": "1", "type": "subscribe", "payload": ["query": "{ me { username } }"]])
            guard case .message(let message) = try await socket.next() else { throw HarnessFailure("no message") }
            #expect(message["type"] == "error" && message["payload"]?[0]?["extensions"]?["code"] == "LIMIT")

            let other = try await installation.curl("{ me { username } }", token: bob)
            #expect(other == ["data": ["me": ["username": "bob"]]])
        }
    }

    private static func get(
        _ query: String,
        _ more: [String],
        _ token: String,
        _ installation: Installation
    ) async throws -> HTTPAnswer {
        let arguments = ["--get", "--data-urlencode", "query=\(query)"] + more
        return try await installation.http("/graphql", token: token, arguments)
    }
}
