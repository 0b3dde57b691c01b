import Foundation
import JSON
import Testing

@Suite("Senders' paths, as served", .timeLimit(.minutes(5)))
struct ReceiverPathTests {
    @Test("a key is taken wherever its sender can put it, and the event becomes a message")
    func places() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let event = try await scene.way("EVENT")
            let basicUser = Data("\(event.key):".utf8).base64EncodedString()
            let basicPassword = Data("ada:\(event.key)".utf8).base64EncodedString()
            let requests: [(path: String, fields: [String])] = [
                ("/in/\(event.key)", []), ("/in/event", ["Authorization: Bearer \(event.key)"]),
                ("/in/event", ["Authorization: Token \(event.key)"]),
                ("/in/event", ["Authorization: Basic \(basicUser)"]),
                ("/in/event", ["Authorization: Basic \(basicPassword)"]),
                ("/in/event", ["X-Api-Key: \(event.key)"]),
                ("/in/\(event.key)", ["Authorization: Bearer \(event.key)"]),
            ]
            for (path, fields) in requests {
                let answer = try await scene.post(path, SentBody.event, fields)
                #expect(answer.status == 202, "\(fields): \(answer.body)")
            }
            #expect(try await scene.messages().count == requests.count)
        }
    }

    @Test("each product's path takes its shape and answers in it")
    func products() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let alertmanager = try await scene.way("ALERTMANAGER")
            let answer = try await scene.post(
                "/in/alertmanager",
                SentBody.alertmanager,
                ["Authorization: Bearer \(alertmanager.key)"]
            )
            #expect(answer.status == 200, "\(answer.body)")
            #expect(try answer.json["status"] == "success")

            let pagerDuty = try await scene.way("PAGERDUTY")
            let taken = try await scene.post("/v2/enqueue", SentBody.pagerDuty(pagerDuty.key))
            #expect(taken.status == 202, "\(taken.body)")
            #expect(try taken.json["dedup_key"] == "db-3")

            let gotify = try await scene.way("GOTIFY")
            let sent = try await scene.post("/message?token=\(gotify.key)", #"{"title":"T","message":"M"}"#)
            #expect(sent.status == 200, "\(sent.body)")
            #expect(try sent.json["message"] == "M")
            #expect(try await installation.http("/version").status == 200)

            let slack = try await scene.way("SLACK")
            for path in ["/services/T0/B0/\(slack.key)", "/hooks/\(slack.key)", "/hooks/a/\(slack.key)"] {
                let answer = try await scene.post(path, #"{"text":"Disk full"}"#)
                #expect(answer.status == 200 && answer.body == "ok", "\(path): \(answer.body)")
            }
            #expect(try await scene.messages().count == 6)
        }
    }

    @Test("ntfy's clients publish to the topic's own path, with a key in each place where they put one")
    func ntfy() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let way = try await scene.way("NTFY")
            let bearer = "Authorization: Bearer \(way.key)"
            let basic = Data(":\(way.key)".utf8).base64EncodedString()
            let auth = Data("Bearer \(way.key)".utf8).base64EncodedString().replacing("=", with: "")
            let requests: [(method: String, path: String, body: String, fields: [String])] = [
                ("POST", "/alerts", "db-3 is at 91 %", [bearer]), ("PUT", "/alerts", "db-3", [bearer]),
                ("POST", "/alerts", "db-3", ["Authorization: Basic \(basic)"]),
                ("POST", "/alerts?auth=\(auth)", "db-3", []),
                ("POST", "/", #"{"topic":"alerts","message":"db-3"}"#, [bearer]),
                ("POST", "/\(scene.topicID)", "by id", [bearer]), ("POST", "/alerts/sequence-1", "db-3", [bearer]),
            ]
            for request in requests {
                let fields = request.fields + ["Title: Disk full", "Priority: high"]
                let answer = try await scene.post(request.path, request.body, fields, method: request.method)
                #expect(answer.status == 200, "\(request): \(answer.body)")
                #expect(try answer.json["event"] == "message")
            }
            let got = try await installation.http("/alerts/publish?message=db-3", token: way.key)
            #expect(got.status == 200, "\(got.body)")
            let messages = try await scene.messages()
            #expect(messages.count == requests.count + 1)
            #expect(messages.first?["title"] == "Disk full" && messages.first?["priority"] == 4)
            #expect(messages.first?["body"] == "db-3 is at 91 %")
        }
    }

    @Test("a user's token and a token that may publish to the topic post to it, others do not")
    func tokens() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let publish = try await installation.makeToken(user: "ada", ["--publish", "alerts"])
            let readOnly = try await installation.makeToken(user: "ada", ["--read-only"])
            for token in [scene.ada, publish] {
                for path in ["/alerts", "/in/to/alerts/ntfy"] {
                    let answer = try await scene.post(path, "db-3 is at 91 %", ["Authorization: Bearer \(token)"])
                    #expect(answer.status == 200, "\(path): \(answer.body)")
                }
            }
            for token in [scene.bob, readOnly] {
                let answer = try await scene.post("/alerts", "x", ["Authorization: Bearer \(token)"])
                #expect(answer.status == 401, "\(answer.body)")
            }
            // A token stands in Authorization alone.
            #expect(try await scene.post("/alerts?auth_token=\(scene.ada)", "x").status == 401)
            #expect(try await scene.messages().count == 4)
            let made = try await installation.curl("{ listIntegrations { items { kind events } } }", token: scene.ada)
            #expect(
                made["data"]?["listIntegrations"]?["items"]?.arrayValue?.sorted { "\($0)" < "\($1)" } == [
                    ["kind": "NTFY", "events": 2], ["kind": "NTFY", "events": 2],
                ]
            )
        }
    }

    @Test("the console, the routes and all that was there before stay where they are")
    func oldPaths() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let html = ["--header", "Accept: text/html"]
            for path in ["/", "/feed", "/topics/x", "/messages/publish", "/sign-in"] {
                #expect(try await installation.http(path, html).header("content-type")?.hasPrefix("text/html") == true)
            }
            #expect(try await installation.http("/healthz").status == 200)
            #expect(try await installation.http("/elsewhere").status == 404)
            #expect(try await installation.http("/elsewhere/further/still", ["--data", "x"]).status == 404)
            #expect(try await installation.http("/sw.js", ["--data", "x"]).status == 405)
            #expect(try await installation.http("/readyz", ["--data", "x"]).status == 405)
            #expect(try await installation.http("/graphql", ["--data", "x"]).status == 415)
            let made = try await scene.post(
                "/tcm/create-message",
                #"{"topic": "alerts", "title": "Hi"}"#,
                ["Authorization: Bearer \(scene.ada)"]
            )
            #expect(made.status == 201, "\(made.body)")
            for reserved in ["metrics", "v1", "api", "docs", "ping", "favicon.ico", "act", "ical"] {
                let answer = try await scene.post("/\(reserved)", "x", ["Authorization: Bearer \(scene.ada)"])
                #expect([404, 405].contains(answer.status), "\(reserved): \(answer.status)")
            }
        }
    }
}
