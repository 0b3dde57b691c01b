import JSON

/// What senders wait for: posts of a hundred alerts, one after another, until all that they cause
/// is durable.
struct AlertsBenchmark {
    let options: BenchOptions
    private static let alerts = 100
    /// Within the rate of an integration, and what a topic may have open.
    private static let posts = 80

    func run() throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let topic = try server.makeTopic("alerts")
        let grouped = try key("ALERTMANAGER", topic, server)
        try measure("a new group of 100 alerts", server) { post(group: $0, to: grouped, server) }
        let repeating = try key("ALERTMANAGER", topic, server)
        try measure("the same group again", server) { _ in post(group: 0, to: repeating, server) }
        let single = try key("EVENT", topic, server)
        try measure("100 new incidents", server) { events(from: $0 * Self.alerts, to: single, server) }
        let counted = try key("EVENT", topic, server)
        try measure("the same 100 incidents again", server) { _ in events(from: 0, to: counted, server) }
    }

    /// The key of a new integration.
    private func key(_ kind: String, _ topic: JSONValue, _ server: ServerProcess) throws -> String {
        let input: JSONValue = [
            "name": .string(kind), "kind": .string(kind), "topicId": topic, "ratePerMinute": 100_000,
        ]
        let made = try server.run(
            "mutation($i: CreateIntegrationInput!) { createIntegration(input: $i) { id } }",
            ["i": input]
        )
        let answer = try server.run(
            "mutation($id: ID!) { rotateIntegrationKey(id: $id) { key } }",
            ["id": made["createIntegration"]?["id"] ?? .null]
        )
        guard let key = answer["rotateIntegrationKey"]?["key"]?.stringValue else {
            throw BenchFailure("no key: \(answer)")
        }
        return key
    }

    private func measure(
        _ name: String,
        _ server: ServerProcess,
        _ request: (Int) -> [UInt8]
    ) throws {
        let connection = try LoadConnection(port: server.port)
        defer { connection.close() }
        let clock = ContinuousClock()
        let end = clock.now.advanced(by: .seconds(options.seconds))
        var times: [Duration] = []
        while clock.now < end, times.count < Self.posts {
            let bytes = request(times.count)
            let start = clock.now
            let answer = String(decoding: try connection.exchange(bytes), as: UTF8.self)
            times.append(clock.now - start)
            guard !answer.contains("\"error\"") else { throw BenchFailure(answer) }
        }
        times.sort()
        func milliseconds(_ part: Double) -> Double {
            let time = times[min(times.count - 1, Int(Double(times.count) * part))]
            return Double(time.components.attoseconds / 1_000_000_000_000_000)
                + Double(time.components.seconds) * 1000
        }
        tell(
            "\(name): \(times.count) posts, p50 \(milliseconds(0.5)) ms, p99 \(milliseconds(0.99)) ms, "
                + "longest \(milliseconds(1)) ms"
        )
    }

    private func post(group: Int, to key: String, _ server: ServerProcess) -> [UInt8] {
        let alerts = (0..<Self.alerts).map { number -> JSONValue in
            [
                "status": "firing",
                "labels": [
                    "alertname": .string("Disk\(group)"), "instance": .string("db-\(number):9100"),
                    "severity": "critical",
                ],
                "annotations": ["summary": .string("db-\(number) disk at 91 %")],
                "startsAt": "2026-11-23T11:50:15.904Z", "endsAt": "0001-01-01T00:00:00Z", "generatorURL": "",
                "fingerprint": .string("\(group)-\(number)"),
            ]
        }
        let body: JSONValue = [
            "receiver": "all", "status": "firing", "alerts": .array(alerts),
            "groupLabels": ["alertname": .string("Disk\(group)")],
            "commonLabels": ["alertname": .string("Disk\(group)")], "commonAnnotations": [:],
            "externalURL": "http://am.example:9093", "version": "4", "groupKey": .string("{}:{\(group)}"),
            "truncatedAlerts": 0,
        ]
        return request(body, to: key, server)
    }

    private func events(from first: Int, to key: String, _ server: ServerProcess) -> [UInt8] {
        let events = (first..<first + Self.alerts).map { number -> JSONValue in
            [
                "action": "trigger", "key": .string("host-\(number)"), "title": .string("Down: \(number)"),
                "severity": "critical",
            ]
        }
        return request(.array(events), to: key, server)
    }

    private func request(_ body: JSONValue, to key: String, _ server: ServerProcess) -> [UInt8] {
        let body = body.serialized()
        let head =
            "POST /in/\(key) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.count)\r\n\r\n"
        return Array(head.utf8) + body
    }
}
