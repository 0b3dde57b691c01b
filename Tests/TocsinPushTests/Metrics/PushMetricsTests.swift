import Metrics
import Testing
import TocsinCore
import TocsinPush

@Suite("What pushes count", .timeLimit(.minutes(5)))
struct PushMetricsTests {
    private func text(_ sources: any MetricSource...) -> String {
        String(decoding: MetricFormat.text.write(sources.flatMap { $0.families }), as: UTF8.self)
    }

    private func devices(_ count: Int, _ platform: PushPlatform, user: String = "u") -> [Device] {
        (0..<count).map { number in
            Device.sample(
                "\(platform)-\(number)",
                token: "\(platform.rawValue)\(number)",
                platform: platform,
                user: "\(user)\(number)"
            )
        }
    }

    @Test("what waits for any node is told with its age, and devices by platform")
    func backlog() async throws {
        try await OutboxHarness.with { harness in
            try await harness.add(devices(2, .ios) + devices(3, .android))
            let backlog = BacklogMetrics()
            func told() async throws -> String {
                let now = harness.time.now()
                let families = try await harness.store.read { reader throws(StoreError) in
                    try backlog.families(reader, at: now)
                }
                return String(decoding: MetricFormat.text.write(families), as: UTF8.self)
            }
            let before = try await told()
            for line in [
                "tocsin_fanouts_waiting 0", "tocsin_fanout_oldest_seconds{urgent=\"1\"} 0.0",
                "tocsin_devices{platform=\"ios\"} 2", "tocsin_devices{platform=\"android\"} 3",
                "tocsin_devices{platform=\"web\"} 0", "tocsin_push_due{provider=\"apns\"} 0",
            ] {
                #expect(before.contains(line + "\n"), "\(line)")
            }
            try await harness.publish("m1", ["priority": .int(5)])
            harness.time.advance(seconds: 3)
            try await harness.publish("m2", number: 2)
            harness.time.advance(seconds: 4)
            let after = try await told()
            for line in [
                "tocsin_fanouts_waiting 2", "tocsin_fanout_oldest_seconds{urgent=\"1\"} 7.0",
                "tocsin_fanout_oldest_seconds{urgent=\"0\"} 4.0",
            ] {
                #expect(after.contains(line + "\n"), "\(line)\n\(after)")
            }
        }
    }

    @Test("attempts, answers, final states and the way from the commit are counted, each exactly")
    func counts() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { sent, _ in
                switch sent.token {
                case "ios0": .apns(410, "Unregistered")
                case "ios1": .apns(400, "BadPriority")
                default: .ok
                }
            }
            try await harness.add(devices(5, .ios) + devices(3, .android))
            try await harness.publish("m1", ["priority": .int(5)])
            try await harness.running { worker in
                try await harness.deliveries { rows in
                    rows.count { $0.status == .accepted } == 6 && rows.allSatisfy { $0.status != .sending }
                }
                try await harness.wait { text(worker).contains("accepted\",reason=\"none\"} 3\n") }
                let told = text(worker)
                let expected = [
                    "tocsin_push_answers_total{provider=\"apns\",status=\"200\",reason=\"none\"} 3",
                    "tocsin_push_answers_total{provider=\"apns\",status=\"410\",reason=\"Unregistered\"} 1",
                    "tocsin_push_answers_total{provider=\"apns\",status=\"400\",reason=\"BadPriority\"} 1",
                    "tocsin_push_answers_total{provider=\"fcm\",status=\"200\",reason=\"none\"} 3",
                    "tocsin_push_attempt_duration_seconds_count{provider=\"apns\",result=\"accepted\"} 3",
                    "tocsin_push_attempt_duration_seconds_count{provider=\"apns\",result=\"ended\"} 1",
                    "tocsin_push_attempt_duration_seconds_count{provider=\"apns\",result=\"refused\"} 1",
                    "tocsin_push_commit_to_accept_seconds_count{provider=\"apns\",priority=\"urgent\"} 3",
                    "tocsin_push_commit_to_accept_seconds_count{provider=\"fcm\",priority=\"urgent\"} 3",
                    "tocsin_deliveries_total{provider=\"apns\",status=\"accepted\",reason=\"none\"} 3",
                    "tocsin_deliveries_total{provider=\"apns\",status=\"ended\",reason=\"Unregistered\"} 1",
                    "tocsin_deliveries_total{provider=\"apns\",status=\"failed\",reason=\"other\"} 1",
                    "tocsin_push_credential_refresh_total{provider=\"apns\",result=\"ok\"} 1",
                    "tocsin_push_in_flight{provider=\"apns\"} 0",
                    "tocsin_push_lanes{provider=\"apns\"} 1",
                ]
                for line in expected { #expect(told.contains(line + "\n"), "\(line)") }
            }
        }
    }

    @Test(
        "a pause is counted by its cause while the lane counts as paused",
        arguments: [
            (PushAnswer.unreachable(reason: "refused"), "unreachable"),
            (PushAnswer.apns(403, "InvalidProviderToken"), "credentials"),
            (PushAnswer.apns(503, "ServiceUnavailable"), "overload"),
        ]
    )
    func pauses(answer: PushAnswer, cause: String) async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { _, _ in answer }
            try await harness.add(devices(40, .ios))
            try await harness.publish("m1")
            try await harness.running { worker in
                try await harness.wait { text(worker).contains("tocsin_push_lanes_paused{provider=\"apns\"} 1\n") }
                let counted = "tocsin_push_pauses_total{provider=\"apns\",cause=\"\(cause)\"} 1\n"
                try await harness.wait { text(worker).contains(counted) }
            }
        }
    }

    @Test("words of a provider that nobody knows make no new series, and all known ones are there from the start")
    func bounded() async throws {
        try await OutboxHarness.with { harness in
            harness.transport.answer { sent, _ in .apns(400, "Invented-\(sent.token)") }
            try await harness.add(devices(30, .ios))
            try await harness.publish("m1")
            try await harness.running { worker in
                // But for the age of credentials, which have none before the first.
                let names = { self.text(worker).split(separator: "\n").filter { !$0.contains("credential_age") }.count }
                let before = names()
                #expect(before <= 1000, "\(before) lines of pushes")
                try await harness.deliveries { $0.are(30, .failed) }
                let counted = "tocsin_push_answers_total{provider=\"apns\",status=\"400\",reason=\"other\"} 30\n"
                try await harness.wait { text(worker).contains(counted) }
                #expect(names() == before)
                let answers = text(worker).split(separator: "\n").count { $0.hasPrefix("tocsin_push_answers_total{") }
                #expect((80...130).contains(answers), "\(answers) pairs of status and reason")
            }
        }
    }
}
