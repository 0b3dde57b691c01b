import Foundation
import JSON
import Testing

@Suite("The older apps' routes, as served", .timeLimit(.minutes(5)))
struct GatewayTests {
    /// One request and what must come back.
    struct Case: CustomStringConvertible, Sendable {
        let request: String
        var body: String?
        let status: Int
        /// Members of the answer, at least; `null` for any value.
        var answer: JSONValue = [:]

        var description: String { "\(request) \(body ?? "") → \(status)" }

        init(_ request: String, _ body: String? = nil, _ status: Int, _ answer: JSONValue = [:]) {
            self.request = request
            self.body = body
            self.status = status
            self.answer = answer
        }
    }

    private static let successes: [Case] = [
        Case(
            "POST /tcm/register-device-token",
            #"{"device_token": "A1A1", "platform": "iOS", "environment": "sandbox"}"#,
            200,
            ["success": true, "platform": "ios", "active": true, "device_id": nil, "user_id": nil]
        ),
        Case("POST /tcm/deregister-device-token", #"{"deviceToken": "a1a1"}"#, 200, ["success": true]),
        Case("POST /tcm/deregister-device-token", #"{"token": "a1a1"}"#, 200, ["success": true]),
        Case(
            "POST /tcm/create-topic",
            #"{"topic_id": "t", "name": "alerts"}"#,
            201,
            ["topic": ["id": "t", "name": "alerts", "arn": "arn:tocsin:topic:ada:alerts", "created_at": nil]]
        ),
        Case("POST /tcm/create-topic/", #"{"topicName": "other"}"#, 201, ["topic": ["name": "other"]]),
        Case(
            "POST /tcm/create-message",
            #"{"topic_id": "t", "title": "Hi", "message": "There", "type": 2, "data": {"a": "b"}, "url": "https://a.b"}"#,
            201,
            ["message": ["number": 1, "type": 2, "title": "Hi", "body": "There", "url": "https://a.b"]]
        ),
        Case("POST /tcm/create-message", #"{"topicId": "t", "title": "Hi"}"#, 201, ["message": ["number": 2]]),
        Case("POST /tcm/create-message", #"{"topic": "alerts", "title": "Hi"}"#, 201, ["message": ["topic_id": "t"]]),
        Case(
            "POST /tcm/create-message",
            #"{"topic_arn": "arn:tocsin:topic:ada:alerts", "topicId": "t", "title": "Hi"}"#,
            201,
            ["message": ["topic_id": "t", "number": 4]]
        ),
        Case("POST /tcm/unsubscribe-from-topic", #"{"topicId": "t"}"#, 200, ["topic_id": "t", "subscribed": false]),
        Case("POST /tcm/subscribe-to-topic", #"{"topic_name": "alerts"}"#, 200, ["topic_id": "t", "subscribed": true]),
        Case(
            "POST /tcm/unsubscribe-from-topic",
            #"{"topicArn": "arn:tocsin:topic:ada:alerts"}"#,
            200,
            ["topic_id": "t", "subscribed": false]
        ),
        Case("POST /tcm/subscribe-to-topic", #"{"topic_id": "t"}"#, 200, ["topic_id": "t", "subscribed": true]),
        Case(
            "POST /api/push/apns/",
            #"{"registration_id": "b2b2", "name": "Phone"}"#,
            201,
            ["registration_id": "b2b2", "name": "Phone", "active": true, "id": nil, "date_created": nil]
        ),
        Case("POST /api/push/gcm", #"{"registration_id": "a:b"}"#, 201, ["registration_id": "a:b", "name": nil]),
        Case("POST /api/push/test/", nil, 200, ["success": true, "message_id": nil]),
        Case("POST /api/push/test/", #"{"title": "Again"}"#, 200, ["success": true]),
        Case("POST /api/notifications/register", #"{"fcm_token": "c:d"}"#, 200, ["platform": "android"]),
        Case("PATCH /api/notifications/settings", #"{"enabled": false}"#, 200, ["enabled": false]),
        Case("PATCH /api/notifications/settings", #"{"enabled": true}"#, 200, ["enabled": true]),
        Case(
            "GET /api/notifications/history?limit=1",
            nil,
            200,
            [
                "history": [
                    [
                        "notification": ["title": "Again", "body": "A push to try out"],
                        "data": ["id": nil, "timestamp": nil, "type": 0, "url": nil],
                    ]
                ], "next_token": nil,
            ]
        ),
        Case("POST /tcm/delete-topic", #"{"topic_id": "t"}"#, 200, ["topic": ["id": "t", "name": "alerts"]]),
        // The name is free again, and means the new topic.
        Case("POST /tcm/create-topic", #"{"id": "t2", "name": "alerts"}"#, 201),
        Case("POST /tcm/subscribe-to-topic", #"{"topic": "alerts"}"#, 200, ["topic_id": "t2"]),
        Case("POST /tcm/delete-topic", #"{"topic": "arn:tocsin:topic:ada:alerts"}"#, 200, ["topic": ["id": "t2"]]),
        Case("POST /tcm/delete-topic", #"{"topic": "other"}"#, 200, ["topic": ["name": "other"]]),
    ]

    private static func error(_ code: JSONValue) -> JSONValue { ["error": ["code": code, "message": nil]] }
    private static let badInput = error("BAD_USER_INPUT")
    private static let badRequest = error("BAD_REQUEST")
    private static let forbidden = error("UNAUTHORIZED")

    /// `t` is the topic of somebody else.
    private static let failures: [Case] = [
        Case("POST /tcm/register-device-token", "{}", 400, badInput),
        Case("POST /tcm/register-device-token", #"{"token": 5}"#, 400, badInput),
        Case("POST /tcm/register-device-token", #"{"token": "xyz", "platform": "ios"}"#, 400, badInput),
        Case("POST /tcm/register-device-token", #"{"token": "aa", "platform": "vms"}"#, 400, badInput),
        Case("POST /tcm/register-device-token", #"{"token": "aa", "device_token": "bb"}"#, 400, badInput),
        Case("POST /tcm/deregister-device-token", #"{"token": null}"#, 400, badInput),
        Case("POST /tcm/deregister-device-token", #"{"token": true}"#, 400, badInput),
        Case("POST /tcm/create-topic", "{}", 400, badInput),
        Case("POST /tcm/create-topic", #"{"name": ["a"]}"#, 400, badInput),
        Case("POST /tcm/create-topic", #"{"id": "t", "name": "x"}"#, 409, error("CONFLICT")),
        Case("POST /tcm/delete-topic", "{}", 400, badInput),
        Case("POST /tcm/delete-topic", #"{"topic_id": {}}"#, 400, badInput),
        Case("POST /tcm/delete-topic", #"{"topic_id": "t"}"#, 404, error("NOT_FOUND")),
        Case("POST /tcm/delete-topic", #"{"topic_id": "none"}"#, 404, error("NOT_FOUND")),
        Case("POST /tcm/delete-topic", #"{"topic": "alerts"}"#, 404, error("NOT_FOUND")),
        Case("POST /tcm/delete-topic", #"{"topic_arn": "arn:tocsin:topic:ada:alerts"}"#, 404, error("NOT_FOUND")),
        Case("POST /tcm/create-message", #"{"topic": "alerts", "title": "x"}"#, 403, forbidden),
        Case(
            "POST /tcm/create-message",
            #"{"topic_arn": "arn:tocsin:topic:ada:alerts", "title": "x"}"#,
            403,
            forbidden
        ),
        Case("POST /tcm/subscribe-to-topic", "{}", 400, badInput),
        Case("POST /tcm/subscribe-to-topic", #"{"topic_id": false}"#, 400, badInput),
        Case("POST /tcm/subscribe-to-topic", #"{"topic_id": "t"}"#, 403, forbidden),
        Case("POST /tcm/unsubscribe-from-topic", "{}", 400, badInput),
        Case("POST /tcm/unsubscribe-from-topic", #"{"topic_id": []}"#, 400, badInput),
        Case("POST /tcm/unsubscribe-from-topic", #"{"topic_id": "t"}"#, 403, forbidden),
        Case("POST /tcm/create-message", #"{"topic_id": "t"}"#, 400, badInput),
        Case("POST /tcm/create-message", #"{"title": "Hi"}"#, 400, badInput),
        Case("POST /tcm/create-message", #"{"topic_id": "t", "title": 1}"#, 400, badInput),
        Case("POST /tcm/create-message", #"{"topic_id": "t", "title": "x", "type": 4294967296}"#, 400, badInput),
        Case("POST /tcm/create-message", #"{"topic_id": "t", "title": "x", "url": "no"}"#, 400, badInput),
        Case("POST /tcm/create-message", #"{"topic_id": "t", "title": "Hi"}"#, 403, forbidden),
        Case("POST /tcm/create-message", "[1]", 400, badRequest),
        Case("POST /tcm/create-message", "{", 400, badRequest),
        Case("POST /api/push/apns/", "{}", 400, badInput),
        Case("POST /api/push/apns/", #"{"registration_id": 7}"#, 400, badInput),
        Case("POST /api/push/gcm/", "{}", 400, badInput),
        Case("POST /api/push/gcm/", #"{"registration_id": 7}"#, 400, badInput),
        Case("POST /api/notifications/register", "{}", 400, badInput),
        Case("POST /api/notifications/register", #"{"fcm_token": {}}"#, 400, badInput),
        Case("PATCH /api/notifications/settings", "{}", 400, badInput),
        Case("PATCH /api/notifications/settings", #"{"enabled": "no"}"#, 400, badInput),
        Case("GET /api/notifications/history?limit=x", nil, 400, badInput),
        Case("GET /api/notifications/history?limit=-1", nil, 400),
        Case("GET /api/notifications/history?next_token=x", nil, 400, badRequest),
        Case("GET /api/notifications/history?limit=%ff", nil, 400, badRequest),
        Case("GET /api/notifications/settings", nil, 405, badRequest),
        Case("PUT /tcm/create-topic", "{}", 405, badRequest),
        // Not switched on here.
        Case("POST /api/push/test/", "{}", 404),
    ]

    @Test("each route does its work and answers in its shape")
    func works() async throws {
        try await Installation.run {
            $0.options += ["--debug-routes"]
        } _: { installation in
            let token = try await installation.addUser("ada")
            for one in Self.successes {
                try await Self.check(one, installation, "Authorization: Token \(token)")
            }
        }
    }

    @Test("what is missing, wrong, foreign or unknown is told as JSON with its status, and changes nothing")
    func refuses() async throws {
        try await Installation.run { installation in
            let ada = try await installation.addUser("ada")
            let bob = try await installation.addUser("bob")
            let topic = Case("POST /tcm/create-topic", #"{"id": "t", "name": "alerts"}"#, 201)
            try await Self.check(topic, installation, "Authorization: Bearer \(ada)")
            for one in Self.failures { try await Self.check(one, installation, "Authorization: Bearer \(bob)") }
            for one in Self.successes where !one.request.contains("/push/test") {
                let bare = Case(one.request, one.body, 401, Self.error("UNAUTHENTICATED"))
                try await Self.check(bare, installation, "X-Nothing: 1")
            }
            let left = try await installation.curl("{ devices { id } listTopics { items { id } } }", token: bob)
            #expect(left["data"] == ["devices": [], "listTopics": ["items": []]])

            let form = try await installation.http("/tcm/create-topic", token: bob, ["--data", "name=x"])
            #expect(form.status == 415)
            #expect(try form.json["error"]?["code"] == "BAD_REQUEST")
            let large = installation.folder + "/large.json"
            try String(repeating: " ", count: 1_100_000).write(toFile: large, atomically: true, encoding: .utf8)
            let upload = ["--header", "Content-Type: application/json", "--data-binary", "@" + large]
            for fields in [[], ["--header", "Transfer-Encoding: chunked"]] {
                let tooLarge = try await installation.http("/tcm/create-topic", token: bob, upload + fields)
                #expect(tooLarge.status == 413)
                #expect(Self.contains(try tooLarge.json, Self.badRequest), "\(tooLarge.body)")
            }
            let wrong = try await installation.http("/api/notifications/settings", token: bob)
            #expect(wrong.header("allow") == "PATCH")
        }
    }

    @Test("a token for one topic publishes to it by any of its names; a name of two topics is refused")
    func names() async throws {
        try await Installation.run(prepare: { $0.environment["TOCSIN_TOPIC_NAMES"] = "any" }) { installation in
            let ada = try await installation.addUser("ada")
            for body in [#"{"id": "t", "name": "alerts"}"#, #"{"id": "u", "name": "twin"}"#] {
                let made = Case("POST /tcm/create-topic", body, 201)
                try await Self.check(made, installation, "Authorization: Bearer \(ada)")
            }
            let publisher =
                "Authorization: Token \(try await installation.makeToken(user: "ada", ["--publish", "alerts"]))"
            for topic in ["t", "alerts", "arn:tocsin:topic:ada:alerts"] {
                let body = #"{"topic": "\#(topic)", "title": "Hi"}"#
                try await Self.check(Case("POST /tcm/create-message", body, 201), installation, publisher)
            }
            let elsewhere = Case("POST /tcm/create-message", #"{"topic": "twin", "title": "Hi"}"#, 403, Self.forbidden)
            try await Self.check(elsewhere, installation, publisher)

            let twin = Case(
                "POST /tcm/create-topic",
                #"{"id": "v", "name": "twin", "arn": "arn:aws:sns:a:1:twin"}"#,
                201
            )
            try await Self.check(twin, installation, "Authorization: Bearer \(ada)")
            for (topic, status) in [("twin", 400), ("arn:aws:sns:a:1:twin", 201)] {
                let body = #"{"topic": "\#(topic)", "title": "Hi"}"#
                let one = Case("POST /tcm/create-message", body, status)
                try await Self.check(one, installation, "Authorization: Bearer \(ada)")
            }
        }
    }

    @Test("enabled: false stops the pushes of that user alone and keeps the feed")
    func switchesPushes() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let off = Case("PATCH /api/notifications/settings", #"{"enabled": false}"#, 200, ["enabled": false])
            try await Self.check(off, installation, "Authorization: Bearer \(scene.ada)")
            let message = #"{"topic_id": "\#(scene.topicID)", "title": "Quiet"}"#
            let ada = "Authorization: Bearer \(scene.ada)"
            try await Self.check(Case("POST /tcm/create-message", message, 201), installation, ada)
            let query = "{ history { items { title deliveries { items { status reason } } } } me { notifications } }"
            let skipped: JSONValue = ["status": "SKIPPED", "reason": "NOTIFICATIONS_OFF"]
            try await eventually("the pushes are skipped") {
                let data = try await installation.curl(query, token: scene.ada)["data"]
                #expect(data?["me"]?["notifications"] == false)
                let items = data?["history"]?["items"]?[0]?["deliveries"]?["items"]
                return items == .array([skipped, skipped, skipped])
            }
            let history = Case(
                "GET /api/notifications/history",
                nil,
                200,
                ["history": [["notification": ["title": "Quiet", "body": ""]]]]
            )
            try await Self.check(history, installation, ada)
            #expect(try await installation.simulator?.pushes().isEmpty == true)
            let on = Case("PATCH /api/notifications/settings", #"{"enabled": true}"#, 200, ["enabled": true])
            try await Self.check(on, installation, ada)
            let redrive = "mutation ($id: ID!) { redriveDeliveries(messageId: $id, status: SKIPPED) { waiting } }"
            let id = try await installation.curl("{ history { items { id } } }", token: scene.ada)["data"]?["history"]
            let first = id?["items"]?[0]?["id"] ?? .null
            _ = try await installation.curl(redrive, ["id": first], token: scene.ada)
            let pushes = try await scene.untilDelivered(1)
            #expect(pushes.map(\.title) == ["Quiet", "Quiet", "Quiet"])
        }
    }

    @Test("with trusted documents only, routes run still; one's own stand beside and in place of shipped ones")
    func ownRoutes() async throws {
        try await Installation.run { installation in
            let (routes, documents) = (installation.folder + "/own.json", installation.folder + "/me.graphql")
            try Self.own.write(toFile: routes, atomically: true, encoding: .utf8)
            try "{ me { username } }".write(toFile: documents, atomically: true, encoding: .utf8)
            installation.options += [
                "--routes", routes, "--trusted-documents", documents, "--trusted-mode", "only",
                "--allowed-origins", "https://pages.example",
            ]
        } _: { installation in
            let ada = "Authorization: Bearer \(try await installation.addUser("ada"))"
            for one in [
                Case("GET /who", nil, 200, ["I": "ada (full)"]),
                Case("POST /tcm/create-topic", #"{"name": "x"}"#, 202, ["name": "x"]),
                Case("GET /api/notifications/history", nil, 200, ["history": []]),
            ] { try await Self.check(one, installation, ada) }
            let ask = [
                "--request", "OPTIONS", "--header", "Origin: https://pages.example", "--header",
                "Access-Control-Request-Method: PATCH",
            ]
            let preflight = try await installation.http("/api/notifications/settings", ask)
            #expect(preflight.header("access-control-allow-methods")?.contains("PATCH") == true)
        }
    }

    private static let own = """
        {"routes": [
          {"method": "GET", "path": "/who", "document": ["{ me", "{ username scope } }"],
           "answer": {"I": "{caller.username} ({me.scope})"}},
          {"method": "POST", "path": "/tcm/create-topic/", "status": 202, "variables": {"n": ["name"]},
           "document": "mutation ($n: String!) { createTopic(input: {name: $n}) { name } }",
           "answer": {"name": "{createTopic.name}"}}
        ]}
        """

    @Test(
        "a mistake in one's own routes stops the start with file, route and what to do",
        arguments: [
            ("{", "not JSON"), ("{}", "routes"),
            (#"{"routes": [{"method": "GET", "path": "/a", "document": "{ nope }", "answer": 1}]}"#, "GET /a: line 1"),
            (
                #"{"routes": [{"method": "GET", "path": "/a", "document": "{ me { scope } }", "answer": "{me.id}"}]}"#,
                "does not select {me.id}"
            ),
        ]
    )
    func mistakes(text: String, words: String) async throws {
        try await Installation.run { installation in
            let file = installation.folder + "/mine.json"
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let arguments = ["serve", "--port", "0", "--data-dir", installation.folder + "/other", "--routes", file]
            let result = try await installation.tocsin(arguments, token: "none")
            #expect(result.status == 1)
            for part in [words, "mine.json", "TOCSIN_ROUTES"] {
                #expect(result.errors.contains(part), "\(part): \(result.errors)")
            }
        }
    }

    private static func check(_ one: Case, _ installation: Installation, _ header: String) async throws {
        let parts = one.request.split(separator: " ").map(String.init)
        var arguments = ["--request", parts[0], "--header", header]
        if let body = one.body {
            arguments += ["--header", "Content-Type: application/json", "--data-binary", body]
        }
        let answer = try await installation.http(parts[1], arguments)
        #expect(answer.status == one.status, "\(one): \(answer.body)")
        #expect(contains(try answer.json, one.answer), "\(one): \(answer.body)")
    }

    /// Whether the answer has the expected members, where `null` stands for any value.
    private static func contains(_ answer: JSONValue, _ expected: JSONValue) -> Bool {
        switch (answer, expected) {
        case (_, .null): return true
        case (.object(let members), .object(let wanted)):
            return wanted.allSatisfy { member in members[member.key].map { contains($0, member.value) } ?? false }
        case (.array(let items), .array(let wanted)):
            return items.count == wanted.count && zip(items, wanted).allSatisfy { contains($0, $1) }
        default: return answer == expected
        }
    }
}
