import JSON
import Testing

/// The table of rights of docs/sharing.md, tried in each of its cells on the built server.
@Suite("Rights in shared topics", .timeLimit(.minutes(5)))
struct RightsMatrixTests {
    /// What somebody is to a topic: a column of the table.
    enum Standing: CaseIterable {
        case owner, ownerRole, publisher, reader, publisherAndReader, stranger

        /// Nil: no grant makes it.
        var roles: [String]? {
            switch self {
            case .owner, .stranger: nil
            case .ownerRole: ["OWNER"]
            case .publisher: ["PUBLISHER"]
            case .reader: ["READER"]
            case .publisherAndReader: ["PUBLISHER", "READER"]
            }
        }
    }

    /// A row of the table: who may, and how it is tried.
    struct Right {
        let name: String
        let holders: Set<Standing>
        /// `TOPIC` and `MESSAGE` stand for ids; changes name a version that is not there, so that
        /// who may is told of a conflict and nothing changes.
        let document: String
        /// Where the answer has something for those who may; nil: it is enough not to be refused.
        var path: [String]?
    }

    private static let all = Set(Standing.allCases)
    private static let readers: Set<Standing> = [.owner, .ownerRole, .reader, .publisherAndReader]
    private static let publishers: Set<Standing> = [.owner, .ownerRole, .publisher, .publisherAndReader]
    private static let sharers: Set<Standing> = [.owner, .ownerRole]

    static let rights: [Right] = [
        Right(
            name: "see that the topic is there",
            holders: all.subtracting([.stranger]),
            document: #"{ getTopic(id: "TOPIC") { name } }"#,
            path: ["getTopic", "name"]
        ),
        Right(
            name: "see the topic whole",
            holders: readers,
            document: #"{ getTopic(id: "TOPIC") { lastNumber } }"#,
            path: ["getTopic", "lastNumber"]
        ),
        Right(
            name: "read a message",
            holders: readers,
            document: #"{ getMessage(id: "MESSAGE") { body } }"#,
            path: ["getMessage", "body"]
        ),
        Right(
            name: "list messages",
            holders: readers,
            document: #"{ getMessageByTopicIdAndCreatedAt(topicId: "TOPIC") { items { body } } }"#,
            path: ["getMessageByTopicIdAndCreatedAt", "items", "0"]
        ),
        Right(
            name: "publish",
            holders: publishers,
            document:
                #"mutation { createMessage(input: { topicId: "TOPIC", type: 1, title: "t", body: "b" }) { id } }"#,
            path: ["createMessage", "id"]
        ),
        Right(
            name: "get pushes",
            holders: readers,
            document: #"mutation { subscribeToTopic(topicId: "TOPIC") { push } }"#,
            path: ["subscribeToTopic", "push"]
        ),
        Right(
            name: "rename",
            holders: sharers,
            document: #"mutation { updateTopic(input: { id: "TOPIC", name: "n", _version: 99 }) { id } }"#
        ),
        Right(
            name: "see members",
            holders: sharers,
            document: #"{ getTopic(id: "TOPIC") { members { items { userId } } } }"#,
            path: ["getTopic", "members", "items"]
        ),
        Right(
            name: "see grants",
            holders: sharers,
            document: #"{ getTopic(id: "TOPIC") { grants { items { id } } } }"#,
            path: ["getTopic", "grants", "items"]
        ),
        Right(
            name: "share",
            holders: sharers,
            document: #"mutation { grantTopic(input: { topicId: "TOPIC", group: "g", roles: [READER] }) { id } }"#,
            path: ["grantTopic", "id"]
        ),
        Right(
            name: "send pushes again",
            holders: sharers,
            document: #"mutation { redriveDeliveries(messageId: "MESSAGE", status: FAILED) { waiting } }"#,
            path: ["redriveDeliveries", "waiting"]
        ),
        Right(
            name: "give the role OWNER",
            holders: [.owner],
            document: #"mutation { grantTopic(input: { topicId: "TOPIC", group: "o", roles: [OWNER] }) { id } }"#,
            path: ["grantTopic", "id"]
        ),
        Right(
            name: "delete the topic",
            holders: [.owner],
            document: #"mutation { deleteTopic(input: { id: "TOPIC", _version: 99 }) { id } }"#
        ),
    ]

    /// How a caller comes to be what they are.
    enum SubjectKind: CaseIterable { case user, group, everybody }

    private struct Caller {
        let standing: Standing
        let kind: SubjectKind
        let token: String
        let topic: String
        let message: String
    }

    /// One caller for each standing and kind of subject, each with a topic of its own.
    private func callers(_ scene: SharedScene) async throws -> [Caller] {
        let bob = try await scene.installation.addUser("bob")
        let dora = try await scene.token(of: "dora", in: ["ops", "other"])
        let eve = try await scene.token(of: "eve", in: [])
        var callers: [Caller] = []
        for standing in Standing.allCases {
            for kind in SubjectKind.allCases {
                let (topic, message) = try await scene.makeTopic("\(standing)-\(kind)")
                let (token, subject): (String, JSONObject) =
                    switch kind {
                    case .user: (bob, ["user": "bob"])
                    case .group: (dora, ["group": "ops"])
                    case .everybody: (eve, ["everybody": true])
                    }
                if let roles = standing.roles { try await scene.share(topic, with: subject, as: roles) }
                let isOwner = standing == .owner
                callers.append(
                    Caller(
                        standing: standing,
                        kind: kind,
                        token: isOwner ? scene.ada : token,
                        topic: topic,
                        message: message
                    )
                )
            }
        }
        return callers
    }

    private static func isAllowed(_ right: Right, _ answer: JSONValue?) -> Bool {
        guard let answer, !answer.serializedString().contains("\"UNAUTHORIZED\"") else { return false }
        guard let path = right.path else { return true }
        var value = answer["data"]
        for step in path { value = Int(step).map { value?[$0] } ?? value?[step] }
        return value.map { !$0.isNull } ?? false
    }

    @Test("over HTTP and sockets each caller may exactly what the table says, however they got their roles")
    func matrix() async throws {
        try await SharedScene.run { scene in
            for caller in try await callers(scene) {
                let socket = try await RawSocket(scene.installation, token: caller.token)
                try await socket.untilReady()
                for (number, right) in Self.rights.enumerated() {
                    let document = right.document.replacing("TOPIC", with: caller.topic)
                        .replacing("MESSAGE", with: caller.message)
                    let expected = right.holders.contains(caller.standing)
                    let cell = "\(caller.standing), by \(caller.kind): \(right.name)"
                    let answer = try await scene.installation.curl(document, token: caller.token)
                    #expect(Self.isAllowed(right, answer) == expected, "HTTP, \(cell): \(answer)")
                    try socket.send(
                        ["id": .string("\(number)"), "type": "subscribe", "payload": ["query": .string(document)]]
                    )
                    let told = try await Self.payload(socket)
                    #expect(Self.isAllowed(right, told) == expected, "socket, \(cell): \(told)")
                }
            }
        }
    }

    /// The response of the one operation that is under way on a socket.
    private static func payload(_ socket: RawSocket) async throws -> JSONValue {
        var payload: JSONValue?
        while true {
            guard case .message(let message) = try await socket.next() else {
                throw HarnessFailure("The socket was closed.")
            }
            switch message["type"]?.stringValue {
            case "next": payload = message["payload"]
            case "error": return ["errors": message["payload"] ?? .null]
            case "complete": return payload ?? .null
            default: continue
            }
        }
    }

    /// What the older apps' routes, and commands, do of the same.
    private static let publishRoute = #"{"topic_id": "TOPIC", "title": "t"}"#
    private static let joinRoute = #"{"topic_id": "TOPIC"}"#

    @Test("routes and commands let each caller do exactly the same")
    func otherTransports() async throws {
        try await SharedScene.run { scene in
            for caller in try await callers(scene) where caller.kind == .group || caller.standing == .owner {
                let (isPublisher, isReader, isSharer) = (
                    Self.publishers.contains(caller.standing), Self.readers.contains(caller.standing),
                    Self.sharers.contains(caller.standing)
                )
                func post(_ path: String, _ body: String) async throws -> Bool {
                    let answer = try await scene.installation.http(
                        path,
                        token: caller.token,
                        [
                            "--header", "Content-Type: application/json", "--data-binary",
                            body.replacing("TOPIC", with: caller.topic),
                        ]
                    )
                    return (200...299).contains(answer.status)
                }
                func command(_ arguments: [String]) async throws -> Bool {
                    try await scene.installation.tocsin(arguments, token: caller.token).status == 0
                }
                #expect(try await post("/tcm/create-message", Self.publishRoute) == isPublisher, "\(caller.standing)")
                #expect(try await post("/tcm/subscribe-to-topic", Self.joinRoute) == isReader, "\(caller.standing)")
                #expect(
                    try await command(["publish", caller.topic, "--title", "t"]) == isPublisher,
                    "\(caller.standing)"
                )
                #expect(
                    try await command(["topic", "share", caller.topic, "--group", "g"]) == isSharer,
                    "\(caller.standing)"
                )
                #expect(
                    try await command(["topic", "unshare", caller.topic, "--group", "g"]) == isSharer,
                    "\(caller.standing)"
                )
                #expect(
                    try await command(["topic", "show", caller.topic]) == (caller.standing != .stranger),
                    "\(caller.standing)"
                )
                #expect(
                    try await command(["topic", "delete", caller.topic]) == (caller.standing == .owner),
                    "\(caller.standing)"
                )
            }
        }
    }
}
