import JSON
import Testing

/// What Amazon SNS asks before it posts anything: that somebody opens an address.
@Suite("Subscriptions of Amazon SNS", .timeLimit(.minutes(5)))
struct SNSConfirmationTests {
    private static let arn = "arn:aws:sns:eu-central-1:123456789012:alarms"
    private static let amazon = "https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription"

    private static func subscription(_ arn: String = arn, url: String? = nil) -> String {
        let url = url ?? amazon + "&TopicArn=\(arn)&Token=2336412f37"
        return #"{"Type": "SubscriptionConfirmation", "MessageId": "m-1", "Token": "2336412f37", "TopicArn": "#
            + #""\#(arn)", "Message": "You have chosen to subscribe.", "SubscribeURL": "\#(url)"}"#
    }

    /// Runs a server that finds `amazon` where Amazon would be, with a way in that lists the topic.
    private static func run(
        _ amazon: Receiver,
        _ more: [String: String] = [:],
        _ body: (ReceiverScene, ReceiverScene.Way) async throws -> Void
    ) async throws {
        try await Installation.run(prepare: { installation in
            installation.environment["TOCSIN_SNS_ENDPOINT"] = "http://127.0.0.1:\(amazon.port)"
            installation.environment.merge(more) { $1 }
        }) { installation in
            let scene = try await ReceiverScene(installation)
            let way = try await scene.way("TEMPLATE", ["receiver": "aws-sns", "snsTopics": [.string(arn)]])
            try await body(scene, way)
        }
    }

    /// What the owner reads of the last requests, once there are so many.
    private static func outcomes(_ count: Int, _ scene: ReceiverScene, _ way: ReceiverScene.Way) async throws
        -> [String]
    {
        try await eventually("\(count) requests are seen") {
            let seen = try await scene.integration(way.id, "recent(limit: 100) { status outcome }")
            let recent = seen["recent"]?.arrayValue ?? []
            guard recent.count == count, recent.allSatisfy({ $0["status"] == 200 }) else { return nil }
            return recent.compactMap { $0["outcome"]?.stringValue }
        }
    }

    @Test("one of a topic that is listed is confirmed, and makes no message")
    func listed() async throws {
        let amazon = try Receiver { _, _ in 200 }
        try await Self.run(amazon) { scene, way in
            let answer = try await scene.post("/in/\(way.key)", Self.subscription())
            #expect(answer.status == 200, "\(answer.body)")
            #expect(
                amazon.everything.map(\.path) == [
                    "/?Action=ConfirmSubscription&TopicArn=arn%3Aaws%3Asns%3Aeu-central-1%3A123456789012%3Aalarms"
                        + "&Token=2336412f37"
                ]
            )
            #expect(try await Self.outcomes(1, scene, way) == ["confirmed the subscription to \(Self.arn)"])
            #expect(try await scene.messages().isEmpty)
            let seen = try await scene.integration(way.id, "trouble events refused")
            #expect(seen["trouble"]?.isNull == true && seen["refused"] == 0, "\(seen)")
        }
    }

    @Test("one of a topic that is not listed is not confirmed; recent says what to do, and its link comes as a message")
    func unlisted() async throws {
        let amazon = try Receiver { _, _ in 200 }
        try await Self.run(amazon) { scene, way in
            let other = "arn:aws:sns:eu-central-1:123456789012:other"
            let answer = try await scene.post("/in/\(way.key)", Self.subscription(other))
            #expect(answer.status == 200, "\(answer.body)")
            #expect(try await Self.outcomes(1, scene, way)[0].contains("add the ARN to snsTopics"))
            #expect(try await scene.messages().map { $0["title"] } == [.string("Confirm the subscription to \(other)")])
            #expect(amazon.everything.isEmpty)
        }
    }

    @Test("no address is called but Amazon's of the topic's own region that confirms this very topic")
    func addresses() async throws {
        let amazon = try Receiver { _, _ in 200 }
        try await Self.run(amazon) { scene, way in
            let (arn, end) = (Self.arn, "&Token=2336412f37")
            let urls = [
                "http://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=\(arn)\(end)",
                "https://sns.eu-central-1.amazonaws.com.evil.example/?Action=ConfirmSubscription&TopicArn=\(arn)\(end)",
                "https://evil.example/?Action=ConfirmSubscription&TopicArn=\(arn)\(end)",
                "https://sns.eu-central-1.amazonaws.com@127.0.0.1/?Action=ConfirmSubscription&TopicArn=\(arn)\(end)",
                "https://sns.eu-central-1.amazonaws.com:8443/?Action=ConfirmSubscription&TopicArn=\(arn)\(end)",
                "https://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=\(arn)\(end)",
                "https://sns.eu-central-1.amazonaws.com.cn/?Action=ConfirmSubscription&TopicArn=\(arn)\(end)",
                "https://sns.eu-central-1.amazonaws.com/?Action=Unsubscribe&TopicArn=\(arn)\(end)",
                "\(Self.amazon)&TopicArn=arn:aws:sns:eu-central-1:123456789012:other\(end)",
                "\(Self.amazon)&TopicArn=\(arn)&TopicArn=\(arn)\(end)",
                "\(Self.amazon)&Action=Publish&TopicArn=\(arn)\(end)",
                "\(Self.amazon)&TopicArn=\(arn)", "\(Self.amazon)&TopicArn=\(arn)\(end)#x",
                "\(Self.amazon)&TopicArn=\(arn)&Token=%0d%0aHost:x", "file:///etc/passwd", "",
            ]
            for url in urls {
                let answer = try await scene.post("/in/\(way.key)", Self.subscription(url: url))
                #expect(answer.status == 200, "\(url): \(answer.body)")
            }
            for outcome in try await Self.outcomes(urls.count, scene, way) {
                #expect(outcome.contains("do not open it"), "\(outcome)")
            }
            #expect(amazon.everything.isEmpty, "\(amazon.everything.map(\.path))")
        }
    }

    @Test("one that Amazon refuses is told with its status, and its link comes as a message")
    func refused() async throws {
        let amazon = try Receiver { _, _ in 403 }
        try await Self.run(amazon) { scene, way in
            let answer = try await scene.post("/in/\(way.key)", Self.subscription())
            #expect(answer.status == 200, "\(answer.body)")
            #expect(try await Self.outcomes(1, scene, way)[0].contains("Amazon answered 403"))
            #expect(try await scene.messages().count == 1)
        }
    }

    @Test("one that Amazon does not answer comes as a message, within the time that a request has")
    func unanswered() async throws {
        let amazon = try Receiver(saying: { _, _ in nil })
        // As the server ships.
        try await Self.run(amazon, ["TOCSIN_EXECUTION_SECONDS": "5"]) { scene, way in
            let answer = try await scene.post("/in/\(way.key)", Self.subscription())
            #expect(answer.status == 200, "\(answer.body)")
            #expect(try await Self.outcomes(1, scene, way)[0].contains("in time"))
            #expect(try await scene.messages().count == 1)
        }
    }

    @Test("what the topics post is taken whether they are listed or not: the key is the proof")
    func notification() async throws {
        let amazon = try Receiver { _, _ in 200 }
        try await Self.run(amazon) { scene, way in
            let body =
                #"{"Type": "Notification", "MessageId": "m-2", "TopicArn": "#
                + #""arn:aws:sns:eu-central-1:123456789012:other", "Subject": "Hello", "Message": "World"}"#
            let answer = try await scene.post("/in/\(way.key)", body)
            #expect(answer.status == 202, "\(answer.body)")
            let titles = try await scene.messages().map { $0["title"] }
            #expect(titles == ["Hello"])
        }
    }

    @Test("snsTopics takes ARNs of topics, for this receiver alone")
    func values() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let many = (0..<21).map { JSONValue.string("arn:aws:sns:eu-central-1:123456789012:t\($0)") }
            for (receiver, topics, words) in [
                ("github", [.string(Self.arn)], "aws-sns"), ("aws-sns", ["alarms"], "no ARN"),
                ("aws-sns", many, "at most 20"),
                ("aws-sns", ["arn:aws:sqs:eu-central-1:123456789012:alarms"], "no ARN"),
                ("aws-sns", ["arn:aws:sns:evil.example/:123456789012:alarms"], "no ARN"),
            ] as [(String, [JSONValue], String)] {
                let input: JSONObject = [
                    "name": "s", "kind": "TEMPLATE", "topicId": .string(scene.topicID), "receiver": .string(receiver),
                    "snsTopics": .array(topics),
                ]
                let answer = try await installation.curl(
                    "mutation($input: CreateIntegrationInput!) { createIntegration(input: $input) { id } }",
                    ["input": .object(input)],
                    token: scene.ada
                )
                #expect(answer["errors"]?[0]?["extensions"]?["code"] == "BAD_USER_INPUT", "\(answer)")
                #expect(answer["errors"]?[0]?["message"]?.stringValue?.contains(words) == true, "\(answer)")
            }
            let set = try await installation.tocsin(
                [
                    "integration", "add", "Alarms", "--kind", "template", "--receiver", "aws-sns", "--topic", "alerts",
                    "--sns-topic", Self.arn,
                ],
                token: scene.ada
            )
            #expect(set.status == 0, "\(set.errors)")
            let shown = try await installation.tocsin(["integration", "show", "Alarms"], token: scene.ada)
            #expect(shown.output.contains("snsTopic\t\(Self.arn)"), "\(shown.output)")
        }
    }
}
