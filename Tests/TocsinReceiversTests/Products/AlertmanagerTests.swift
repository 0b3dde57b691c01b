import Testing
import TocsinCore
import TocsinReceivers

@Suite("Alertmanager's and Grafana's shape")
struct AlertmanagerTests {
    private func post(_ alerts: [String], _ more: String = "\"status\":\"firing\"") -> ReceiverRequest {
        Sample.request(body: "{\"groupKey\":\"g\",\(more),\"alerts\":[\(alerts.joined(separator: ","))]}")
    }

    private func alert(_ labels: String, status: String = "firing", annotations: String = "") -> String {
        "{\"status\":\"\(status)\",\"labels\":{\(labels)},\"annotations\":{\(annotations)}}"
    }

    @Test("ten alerts are told, firing ones first, the others counted")
    func tenAlerts() throws {
        let resolved = (0..<3).map { alert("\"instance\":\"r\($0)\"", status: "resolved") }
        let firing = (0..<11).map { alert("\"instance\":\"f\($0)\"") }
        let more = "\"status\":\"firing\",\"truncatedAlerts\":2,\"commonLabels\":{\"alertname\":\"Down\"}"
        let event = try #require(Sample.read(.alertmanager, post(resolved + firing, more)).first)
        let lines = event.body.split(separator: "\n")
        #expect(lines.count == 12 && lines[0] == "f0" && lines[9] == "f9")
        #expect(lines[10] == "and 4 more" && lines[11] == "and 2 not shown by the sender")
        #expect(event.title == "Down (11 firing, 3 resolved)" && event.truncatedAlerts == 2)
        #expect(event.alerts.map(\.isFiring) == Array(repeating: true, count: 11) + [false, false, false])
    }

    @Test(
        "the group's status decides, unless an alert that is shown still fires",
        arguments: [
            ("\"status\":\"firing\"", ["resolved"], SenderEvent.Action.trigger),
            ("\"status\":\"resolved\"", ["resolved"], .resolve),
            ("\"status\":\"resolved\"", ["resolved", "firing"], .trigger),
            ("\"status\":\"resolved\",\"truncatedAlerts\":1", ["firing"], .resolve),
            ("\"receiver\":\"r\"", ["resolved"], .resolve), ("\"receiver\":\"r\"", ["firing"], .trigger),
        ] as [(String, [String], SenderEvent.Action)]
    )
    func status(more: String, states: [String], action: SenderEvent.Action) throws {
        let alerts = states.map { alert("\"a\":\"\($0)\"", status: $0) }
        #expect(try #require(Sample.read(.alertmanager, post(alerts, more)).first).action == action)
    }

    @Test("a priority is that of the worst firing alert, by the integration's label and words")
    func priorities() throws {
        let alerts = [
            alert("\"sev\":\"page\"", status: "resolved"), alert("\"sev\":\"Warning\""), alert("\"sev\":\"purple\""),
        ]
        let reading = Sample.read(.alertmanager, post(alerts)) { $0.severityLabel = "sev" }
        #expect(try #require(reading.first).priority == 3)
        #expect(reading.notes.count == 1 && reading.notes[0].contains("\"purple\""))
        let own = Sample.read(.alertmanager, post(alerts)) {
            ($0.severityLabel, $0.severityWords) = ("sev", ["purple": 4])
        }
        #expect(try #require(own.first).priority == 4 && own.notes.isEmpty)
        #expect(try #require(Sample.read(.alertmanager, post(alerts)).first).priority == nil)
    }

    @Test("without grouping a group is a plain message")
    func plain() throws {
        let event = try #require(
            Sample.read(.alertmanager, post([alert("\"a\":\"b\"")]), grouping: Integration.Grouping.none).first
        )
        #expect(event.action == .log && event.key == nil && event.alerts.isEmpty)
    }

    @Test("one alert is told by its summary, and by its description too")
    func single() throws {
        let words = "\"summary\":\"Disk full\",\"description\":\"91 %\\nof 2 TB\""
        let event = try #require(
            Sample.read(.alertmanager, post([alert("\"pod\":\"db-3\"", annotations: words)])).first
        )
        #expect(event.title == "Disk full" && event.body == "db-3: Disk full\n91 %\nof 2 TB")
    }

    @Test(
        "what has no alerts or no group's key is refused with the names of both",
        arguments: [
            "", "[]", "{}", "{\"alerts\":[]}", "{\"groupKey\":\"g\"}", "{\"groupKey\":\"g\",\"alerts\":{}}", "nonsense",
        ]
    )
    func refused(body: String) throws {
        for kind in [Integration.Kind.alertmanager, .grafana] {
            let request = Sample.request(body: body)
            let fault = try #require(Sample.read(kind, request).fault)
            let answer = try #require(Receivers.of(kind)).answer(fault, to: request)
            #expect(
                answer.status == 400
                    && answer.text.hasPrefix("{\"error\":{\"code\":\"BAD_USER_INPUT\",\"message\":\"The body ")
            )
        }
    }

    @Test("a used-up rate is 503, for 429 is not sent again")
    func overload() throws {
        for kind in [Integration.Kind.alertmanager, .grafana] {
            let receiver = try #require(Receivers.of(kind))
            for fault in [ReceiverFault.rateLimited(retryAfterSeconds: 7), .unavailable(retryAfterSeconds: 7)] {
                let answer = receiver.answer(fault, to: Sample.request())
                #expect(answer.status == 503 && answer.header("Retry-After") == "7")
            }
            #expect(receiver.answer(.unauthenticated, to: Sample.request()).status == 401)
            #expect(receiver.answer(.tooLarge(), to: Sample.request()).status == 413)
            #expect(
                receiver.answer(.methodNotAllowed, to: Sample.request()).header("Allow")
                    == receiver.methods.joined(separator: ", ")
            )
        }
    }

    @Test(
        "Grafana's title loses its bracket and nothing else",
        arguments: [
            ("[FIRING:1] Disk full", "Disk full"), ("[RESOLVED] Disk [db]", "Disk [db]"), ("[FIRING:1]", "[FIRING:1]"),
            ("[db] Disk", "[db] Disk"),
        ]
    )
    func brackets(title: String, expected: String) throws {
        let request = post([alert("\"alertname\":\"x\"")], "\"status\":\"firing\",\"title\":\"\(title)\"")
        #expect(try #require(Sample.read(.grafana, request).first).title == expected)
    }

    @Test("a signed post is taken only with its signature, in time")
    func signatures() throws {
        let body = "{\"groupKey\":\"g\",\"status\":\"firing\",\"alerts\":[{}]}"
        var context = Sample.context(.grafana)
        let secret = Array("secret".utf8)
        context.signatureSecret = secret
        let seconds = Sample.now.milliseconds / 1000
        func reading(_ signed: String, _ headers: [(String, String)] = []) throws -> Reading {
            let signature = HexText.text(of: context.hmacSHA256(secret, Array(signed.utf8)))
            let all = [("X-Grafana-Alerting-Signature", signature)] + headers
            return try #require(Receivers.of(.grafana)).read(Sample.request(headers: all, body: body), in: context)
        }
        #expect(try reading(body).events?.count == 1)
        #expect(try reading(body + " ").fault == .unauthenticated)
        for (offset, isTaken) in [(Int64(0), true), (299, true), (-301, false), (301, false)] {
            let time = String(seconds + offset)
            let read = try reading("\(time):\(body)", [("X-Grafana-Alerting-Timestamp", time)])
            #expect((read.fault == nil) == isTaken)
        }
        #expect(try reading(body, [("X-Grafana-Alerting-Timestamp", "soon")]).fault == .unauthenticated)
        #expect(
            try #require(Receivers.of(.grafana)).read(Sample.request(body: body), in: context).fault == .unauthenticated
        )
    }

    @Test("the HMAC of the tests is RFC 4231's")
    func hmac() {
        let text = HexText.text(
            of: Sample.context(.grafana).hmacSHA256(Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
        )
        #expect(text == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }
}
