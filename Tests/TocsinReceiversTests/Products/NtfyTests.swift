import JSON
import Testing
import TocsinCore
import TocsinReceivers

@Suite("ntfy's shape")
struct NtfyTests {
    private func read(
        _ headers: [(String, String)],
        _ target: String = "/alerts",
        body: String = "b",
        change: (inout Integration) -> Void = { _ in }
    ) -> Reading {
        Sample.read(.ntfy, Sample.request("POST", target, headers: headers, body: body), change: change)
    }

    private func code(_ reading: Reading) -> Int? {
        if case .badInput(_, let code)? = reading.fault { return code }
        if case .tooLarge(let code)? = reading.fault { return code }
        return nil
    }

    @Test(
        "a priority has a number or a word",
        arguments: [
            ("1", 1), ("min", 1), ("low", 2), ("3", 3), ("default", 3), ("High", 4), ("5", 5), ("max", 5),
            ("urgent", 5),
        ]
    )
    func priorities(word: String, priority: Int) throws {
        for name in ["X-Priority", "Priority", "prio", "p"] {
            #expect(try #require(read([(name, word)]).first).priority == priority)
            #expect(try #require(read([], "/alerts?\(name)=\(word)").first).priority == priority)
        }
    }

    @Test("a browser's own header Priority is none of ours")
    func browser() throws { #expect(try #require(read([("Priority", "u=1, i")]).first).priority == 3) }

    @Test(
        "what is not taken has ntfy's number",
        arguments: [
            ([("Priority", "9")], 40007), ([("Delay", "tomorrow, 10am")], 40004), ([("Delay", "5s")], 40005),
            ([("In", "400 days")], 40006), ([("At", "1")], 40005), ([("Email", "a@b")], 40001),
            ([("Call", "yes")], 40032),
            ([("Actions", "open, Open, https://a")], 40018), ([("Actions", "view, Open")], 40018),
            ([("Actions", "[{}]")], 40018), ([("Actions", "[1")], 40018),
            ([("Actions", "view, A, https://a; view, B, https://a; view, C, https://a; view, D, https://a")], 40018),
            ([("Attach", "graph.png")], 40013), ([("Filename", "a.txt")], 41301), ([("sid", "a b")], 40049),
            ([("X-Incident", "k"), ("X-Incident-Action", "explode")], 40000),
        ] as [([(String, String)], Int)]
    )
    func refused(headers: [(String, String)], expected: Int) throws {
        let reading = read(headers)
        #expect(code(reading) == expected)
        let answer = NtfyReceiver().answer(try #require(reading.fault), to: Sample.request("POST", "/alerts"))
        #expect(answer.status == expected / 100)
        #expect(answer.text.hasPrefix("{\"code\":\(expected),\"http\":\(expected / 100),\"error\":\""))
    }

    @Test("a body that is too long, or is no text, is too large")
    func bodies() {
        #expect(code(read([], body: String(repeating: "a", count: 65_537))) == 41301)
        #expect(code(Sample.read(.ntfy, Sample.request("POST", "/alerts", bytes: [0xFF, 0xFE]))) == 41301)
        let json = "{\"topic\":\"t\",\"message\":\"\(String(repeating: "a", count: 65_537))\"}"
        #expect(code(read([], "/", body: json)) == 41303)
        #expect(code(read([], "/", body: "no JSON")) == 40017)
        #expect(code(read([], "/", body: "{\"message\":\"m\"}")) == 40009)
    }

    @Test(
        "a delay is read as ntfy's short forms",
        arguments: [
            ("30m", 1800), ("2h", 7200), ("1 day", 86_400), ("30min", 1800), ("1h30m", 5400), ("90 seconds", 90),
            ("1795838400", 3600), ("2026-11-28T04:00", 3600), ("2026-11-28T04:00:00+01:00", 0), ("1w", 604_800),
        ]
    )
    func delays(text: String, seconds: Int64) throws {
        let reading = read([("Delay", text)])
        guard seconds >= 10 else { return #expect(code(reading) == 40005) }
        let due = try #require(reading.first?.dueAt)
        #expect(due.milliseconds - Sample.now.milliseconds == seconds * 1000)
    }

    @Test("actions may be short, with quotes, or JSON")
    func actions() throws {
        let simple =
            #"view, "Open, now; please", https://a.example/x?a=b, clear=true; action=http, label='It', "#
            + #"url=https://api.example, method=put, headers.X-A="b;c", body='{"a": 1}'"#
        let event = try #require(read([("Actions", simple)]).first)
        #expect(event.buttons.map(\.title) == ["Open, now; please"] && event.links.map(\.text) == ["It"])
        let allowed = try #require(read([("Actions", simple)]) { $0.allowsHTTPActions = true }.first)
        let call = try #require(allowed.buttons.last?.call)
        #expect(
            call
                == SenderEvent.Call(
                    method: "PUT",
                    url: "https://api.example",
                    headers: ["X-A": "b;c"],
                    body: "{\"a\": 1}"
                )
        )
        #expect(allowed.buttons.last?.url == nil, "address and headers are for the server alone")
        let json = #"[{"action":"view","label":"Open","url":"https://a.example"}]"#
        #expect(try #require(read([("X-Actions", json)]).first).buttons.map(\.url) == ["https://a.example"])
    }

    @Test(
        "a call that the server would not make is left out with a word, and the message comes all the same",
        arguments: [
            (#""headers": {"Host": "a"}"#, "host"), (#""headers": {"content-LENGTH": "1"}"#, "content-length"),
            (#""headers": {"A": "b\r\nC: d"}"#, "characters"), (#""headers": {"A b": "c"}"#, "characters"),
            (#""method": "CONNECT""#, "method"), (#""url": "ftp://a.example""#, "address"),
        ]
    )
    func refusedCalls(member: String, words: String) throws {
        let action = #"[{"action": "http", "label": "It", "url": "https://a.example", \#(member)}]"#
        guard case .events(let events, let notes) = read([("Actions", action)], change: { $0.allowsHTTPActions = true })
        else {
            Issue.record("it was refused")
            return
        }
        #expect(events.count == 1 && events[0].buttons.isEmpty && events[0].links.isEmpty)
        #expect(notes.count == 1 && notes[0].contains("\"It\" was left out") && notes[0].contains(words), "\(notes)")
    }

    @Test("an incident has buttons of its own, and a word says that others were left out")
    func buttonsOfIncidents() throws {
        let fields = [("X-Incident", "k"), ("Actions", "view, Open, https://a.example")]
        guard case .events(let events, let notes) = read(fields) else {
            Issue.record("it was refused")
            return
        }
        #expect(events[0].buttons.isEmpty && notes.contains { $0.contains("'Actions' were left out") }, "\(notes)")
    }

    @Test("Firebase: no is not pushed, a key and a sequence are kept, empty headers are absent")
    func others() throws {
        let event = try #require(
            read([("Firebase", "no"), ("X-Key", "k"), ("SID", "s-1"), ("Title", ""), ("X-Cache", "no"), ("Tags", "")])
                .first
        )
        #expect(
            !event.isPushed && event.messageKey == "k" && event.collapseKey == "ntfy/s-1" && event.title == "alerts"
        )
    }

    @Test("an empty message says triggered; a parameter's line breaks are two characters")
    func messages() throws {
        #expect(try #require(read([], body: "").first).body == "triggered")
        #expect(try #require(read([("Message", #"a\nb"#)], body: "").first).body == "a\nb")
        #expect(try #require(read([("Markdown", "yes")], body: "# A\n**b** [c](https://d)").first).body == "A\nb c")
    }

    @Test(
        "a topic is known by the path, by JSON, or not at all",
        arguments: [
            ("POST", "/alerts", "b", "alerts"), ("PUT", "/My%20topic", "b", "My topic"),
            ("GET", "/alerts/send?m=x", "", "alerts"),
            ("POST", "/", #"{"topic":"t","message":"m"}"#, "t"), ("POST", "/in/K", "b", nil),
            ("POST", "/alerts?p=9", "b", "alerts"),
        ] as [(String, String, String, String?)]
    )
    func topics(method: String, target: String, body: String, topic: String?) {
        #expect(NtfyReceiver.topic(of: Sample.request(method, target, body: body)) == topic)
    }

    @Test(
        "paths and methods that mean something else are refused",
        arguments: [
            ("GET", "/alerts", ReceiverFault.methodNotAllowed), ("GET", "/alerts/json", .notFound),
            ("PATCH", "/alerts", .methodNotAllowed), ("DELETE", "/alerts", .methodNotAllowed),
            ("PUT", "/a/b/c", .notFound),
        ] as [(String, String, ReceiverFault)]
    )
    func paths(method: String, target: String, fault: ReceiverFault) {
        #expect(Sample.read(.ntfy, Sample.request(method, target)).fault == fault)
    }

    @Test("faults have ntfy's numbers")
    func faults() {
        let (receiver, request) = (NtfyReceiver(), Sample.request("POST", "/alerts"))
        #expect(
            receiver.answer(.unauthenticated, to: request).text == #"{"code":40101,"http":401,"error":"unauthorized"}"#
        )
        #expect(receiver.answer(.rateLimited(retryAfterSeconds: 2), to: request).header("Retry-After") == "2")
        #expect(receiver.answer(.rateLimited(retryAfterSeconds: 2), to: request).status == 429)
        #expect(receiver.answer(.notFound, to: request).text.hasPrefix(#"{"code":40401,"http":404"#))
        #expect(receiver.answer(.unavailable(retryAfterSeconds: 2), to: request).status == 503)
    }

    @Test("a request may name another receiver, which reads the JSON; without one of that name it is a message")
    func templates() {
        func asked(_ target: String) -> [String] {
            var asked: [String] = []
            _ = NtfyReceiver().read(Sample.request("POST", target), in: Sample.context(.ntfy)) { name in
                asked.append(name)
                return nil
            }
            return asked
        }
        #expect(asked("/alerts?tpl=github") == ["github"])
        #expect(asked("/alerts") == [])
    }

    @Test(
        "a link of Markdown is its text; one without an end, or with an endless address, stays",
        arguments: [
            ("x [a](b) ![c](d) [e](", "x a c [e]("), ("[a](b)[c](d)", "ac"), (") [a](b", ") [a](b"),
            ("[a](\(String(repeating: "b", count: 9000))) [c](d)", "[a](\(String(repeating: "b", count: 9000))) c"),
        ]
    )
    func links(text: String, plain: String) throws {
        #expect(try #require(read([("Markdown", "yes")], body: text).first).body == plain)
    }

    @Test("control characters are no part of a message, nor of the answer that tells it")
    func controls() throws {
        let receiver = NtfyReceiver()
        for (headers, target, body) in [
            ([("Title", "=?utf-8?B?YQBi?="), ("Tags", "=?utf-8?B?YQBi?=")], "/alerts", "c\u{0}d"),
            ([], "/alerts?title=a%00b&tags=a%00b", "c\u{0}d"),
            ([], "/", #"{"topic":"alerts","title":"a\u0000b","tags":["a\u0000b"],"message":"c\u0000d"}"#),
        ] {
            let request = Sample.request("POST", target, headers: headers, body: body)
            let event = try #require(Sample.read(.ntfy, request).first)
            #expect(event.title == "ab" && event.body == "cd")
            let answer = receiver.answer(Sample.accepted([event], Sample.integration(.ntfy)), to: request)
            let told = try JSONParser.parse(answer.text)
            #expect(told["title"] == "ab" && told["message"] == "cd" && told["tags"] == ["ab"], "\(answer.text)")
        }
        let empty = try #require(Sample.read(.ntfy, Sample.request("POST", "/alerts?title=%00", body: "x")).first)
        #expect(empty.title == "alerts")
    }
}
