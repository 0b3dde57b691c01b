import Foundation
import JSON
import Testing
import TocsinClient

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

        /// The columns of the table that say what they may.
        var columns: [String] { self == .owner ? ["owner"] : roles ?? [] }
    }

    /// What the table gives, and how it is tried.
    struct Right {
        let name: String
        /// The rows of the table that must all give it, by their first cell.
        let rows: [String]
        /// What stands in the table for those who have it.
        var cells: Set<String> = ["yes", "all"]
        /// `TOPIC`, `MESSAGE`, `ALARM` and `WAYIN` stand for ids, `SELF` for the caller's name;
        /// changes name a version that is not there, so that who may is told of a conflict and
        /// nothing changes.
        let document: String
        /// Where the answer has something for those who may; nil: it is enough not to be refused.
        var path: [String]?
        /// The same by a route of the older apps, and by a command, where there are any.
        var route: OlderRoute?
        var command: [String]?
        /// Whether nothing else can be tried once it was done.
        var isLast = false

        /// Who has it by the table.
        var holders: Set<Standing> { RightsMatrixTests.holders(of: rows, cells) }
    }

    /// Who has what these rows of the table give, in each of them by such a cell; roles add up.
    static func holders(of rows: [String], _ cells: Set<String>) -> Set<Standing> {
        Set(
            Standing.allCases.filter { standing in
                rows.allSatisfy { row in standing.columns.contains { cells.contains(table[row]?[$0] ?? "") } }
            }
        )
    }

    /// The table of the page: its cells by the first one of their row, and by the column.
    static let table: [String: [String: String]] = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = (try? String(contentsOf: root.appending(path: "docs/sharing.md"), encoding: .utf8)) ?? ""
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
            .drop { !$0.hasPrefix("| You may |") }.prefix { $0.hasPrefix("|") }
        let cells = lines.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let columns = cells.first?.dropFirst() ?? []
        let rows = cells.dropFirst(2).map { row in
            (row[0], Dictionary(uniqueKeysWithValues: zip(columns, row.dropFirst())))
        }
        return Dictionary(uniqueKeysWithValues: rows)
    }()

    /// A request to a route: a body to post, or a `GET` whose answer must name the message.
    struct OlderRoute {
        let path: String
        var body: String?
    }

    static let seeing = "see the rest of the topic, its messages and live feed"
    static let answering = "see and answer the topic's [incidents](incidents.md)"
    private static let managing = "rename the topic, see members and grants, share it"
    private static let posting = "see, change and delete [ways in](integrations.md) to the topic, make keys of them"
    static let learning = "learn what became of pushes"

    static let rights: [Right] = [
        Right(
            name: "see that the topic is there",
            rows: ["see that the topic is there, and its name"],
            document: #"{ getTopic(id: "TOPIC") { name } }"#,
            path: ["getTopic", "name"],
            command: ["topic", "show", "TOPIC"]
        ),
        Right(
            name: "see the topic whole",
            rows: [seeing],
            document: #"{ getTopic(id: "TOPIC") { lastNumber } }"#,
            path: ["getTopic", "lastNumber"]
        ),
        Right(
            name: "read a message",
            rows: [seeing],
            document: #"{ getMessage(id: "MESSAGE") { body } }"#,
            path: ["getMessage", "body"]
        ),
        Right(
            name: "list messages",
            rows: [seeing],
            document: #"{ getMessageByTopicIdAndCreatedAt(topicId: "TOPIC") { items { body } } }"#,
            path: ["getMessageByTopicIdAndCreatedAt", "items", "0"],
            route: OlderRoute(path: "/api/notifications/history?limit=500")
        ),
        Right(
            name: "raise an incident",
            rows: [answering, "publish"],
            document:
                #"mutation { raiseIncident(input: { topicId: "TOPIC", title: "t", key: "k" }) { number } }"#,
            path: ["raiseIncident", "number"]
        ),
        Right(
            name: "see an incident",
            rows: [answering],
            document: #"{ getIncident(id: "ALARM") { number } }"#,
            path: ["getIncident", "number"]
        ),
        Right(
            name: "answer an incident",
            rows: [answering],
            document: #"mutation { acknowledgeIncident(id: "ALARM") { number } }"#,
            path: ["acknowledgeIncident", "number"]
        ),
        Right(
            name: "publish",
            rows: ["publish"],
            document:
                #"mutation { createMessage(input: { topicId: "TOPIC", type: 1, title: "t", body: "b" }) { id } }"#,
            path: ["createMessage", "id"],
            route: OlderRoute(path: "/tcm/create-message", body: #"{"topic_id": "TOPIC", "title": "t"}"#),
            command: ["publish", "TOPIC", "--title", "t"]
        ),
        Right(
            name: "get pushes",
            rows: ["get its pushes"],
            document: #"mutation { subscribeToTopic(topicId: "TOPIC") { push } }"#,
            path: ["subscribeToTopic", "push"],
            route: OlderRoute(path: "/tcm/subscribe-to-topic", body: #"{"topic_id": "TOPIC"}"#)
        ),
        Right(
            name: "rename",
            rows: [managing],
            document: #"mutation { updateTopic(input: { id: "TOPIC", name: "n", _version: 99 }) { id } }"#
        ),
        Right(
            name: "see members",
            rows: [managing],
            document: #"{ getTopic(id: "TOPIC") { members { items { userId } } } }"#,
            path: ["getTopic", "members", "items"]
        ),
        Right(
            name: "see grants",
            rows: [managing],
            document: #"{ getTopic(id: "TOPIC") { grants { items { id } } } }"#,
            path: ["getTopic", "grants", "items"]
        ),
        Right(
            name: "share",
            rows: [managing],
            document: #"mutation { grantTopic(input: { topicId: "TOPIC", group: "g", roles: [READER] }) { id } }"#,
            path: ["grantTopic", "id"],
            command: ["topic", "share", "TOPIC", "--group", "g"]
        ),
        Right(
            name: "remove members",
            rows: [managing],
            document: #"mutation { removeMember(topicId: "TOPIC", userId: "nobody") { push } }"#
        ),
        Right(
            name: "see a way in",
            rows: [posting],
            document: #"{ getIntegration(id: "WAYIN") { name } }"#,
            path: ["getIntegration", "name"]
        ),
        Right(
            name: "make a key",
            rows: [posting],
            document: #"mutation { rotateIntegrationKey(id: "WAYIN") { key } }"#,
            path: ["rotateIntegrationKey", "key"]
        ),
        Right(
            name: "change a way in",
            rows: [posting],
            document: #"mutation { updateIntegration(input: { id: "WAYIN", name: "n", _version: 99 }) { id } }"#
        ),
        Right(
            name: "delete a way in",
            rows: [posting],
            document: #"mutation { deleteIntegration(input: { id: "WAYIN", _version: 99 }) { id } }"#
        ),
        Right(
            name: "learn what became of pushes to anybody",
            rows: [learning],
            cells: ["all"],
            document: #"{ explainDelivery(messageId: "MESSAGE", userId: "nobody") { summary } }"#,
            path: ["explainDelivery", "summary"]
        ),
        Right(
            name: "learn what became of pushes to oneself",
            rows: [learning],
            cells: ["all", "those to your devices"],
            document: #"{ explainDelivery(messageId: "MESSAGE", userId: "SELF") { summary } }"#,
            path: ["explainDelivery", "summary"]
        ),
        Right(
            name: "send pushes again",
            rows: ["send failed pushes again"],
            cells: ["all", "those to your devices"],
            document: #"mutation { redriveDeliveries(messageId: "MESSAGE", status: FAILED) { waiting } }"#,
            path: ["redriveDeliveries", "waiting"],
            command: ["redrive", "MESSAGE"]
        ),
        Right(
            name: "give the role OWNER",
            rows: ["give or take OWNER, delete the topic"],
            document: #"mutation { grantTopic(input: { topicId: "TOPIC", group: "o", roles: [OWNER] }) { id } }"#,
            path: ["grantTopic", "id"]
        ),
        Right(
            name: "delete the topic",
            rows: ["give or take OWNER, delete the topic"],
            document: #"mutation { deleteTopic(input: { id: "TOPIC", _version: 99 }) { id } }"#,
            route: OlderRoute(path: "/tcm/delete-topic", body: #"{"topic_id": "TOPIC"}"#),
            command: ["topic", "delete", "TOPIC"],
            isLast: true
        ),
    ]

    /// Operations on topics and messages that are no right of their own in the table.
    private static let leftOut = [
        "listTopics": "As getTopic; tried by SharedTopicTests.", "syncTopics": "As getTopic; SharedSyncTests.",
        "getTopicByName": "As getTopic; tried by SharedTopicTests.",
        "listMessages": "As the messages of one topic; tried by SharedTopicTests.",
        "syncMessages": "As listMessages; tried by SharedSyncTests.",
        "history": "As listMessages; tried here by its route.",
        "updateMessage": "The schema that ships lets nobody.", "deleteMessage": "The schema that ships lets nobody.",
        "auditEvents": "Tried by AuditAPITests.", "server": "Is the administrators'; tried by ServerStateTests.",
        "revokeGrant": "As grantTopic; tried by its command.",
        "leaveTopic": "Gives up what one has; tried by GrantTests.",
        "unsubscribeFromTopic": "Gives up what one has; tried by GrantTests.",
        "markRead": "Is about how far the caller has read; tried by ReadStateTests.",
        "createScheduledMessage": "Publishes later, and is judged then; tried by ScheduledMessageTests.",
        "pressButton": "Whoever reads the message; tried by ButtonTests.",
        "listIncidents": "As the messages of one topic; tried by IncidentTests.",
        "incidentsByTopicIdAndOpenedAt": "As the messages of one topic; tried by IncidentTests.",
        "createDigest": "Sums up what the caller reads; tried by DigestTests.",
        "createMonitor": "Its incidents are in the topic; tried by IsolationTests.",
        "createIntegration": "Publishes, by a key; tried by ReceiverKeyTests.",
        "integrationsByTopicId": "As getIntegration; tried by IsolationTests.",
    ]

    @Test("every row of the page's table is tried, and every right that is tried stands in it")
    func everyRow() {
        #expect(Self.table.count > 8)
        #expect(Set(Self.rights.flatMap(\.rows)) == Set(Self.table.keys))
        for right in Self.rights {
            #expect(right.holders.contains(.owner) && !right.holders.contains(.stranger), "\(right.name)")
        }
        for right in LiveRight.all {
            #expect(right.holders.contains(.owner) && !right.holders.contains(.stranger), "\(right.name)")
        }
    }

    @Test("every operation on topics and messages is a right that is tried, or left out for a reason")
    func complete() {
        let about = Probe.all.filter { probe in
            ["TOPIC", "MESSAGE", "GRANT", "NAME"].contains { probe.document.contains("\"\($0)\"") }
        }
        let named = Set(about.map(\.field)).union(["syncTopics", "syncMessages", "history"])
        let tried = named.filter { field in Self.rights.contains { $0.document.contains(field + "(") } }
        #expect(tried.count > 8)
        #expect(named.subtracting(tried).subtracting(Self.leftOut.keys) == [])
    }

    /// How a caller comes to be what they are.
    enum SubjectKind: CaseIterable { case user, group, claimedGroup, everybody }

    struct Caller {
        let standing: Standing
        let kind: SubjectKind
        let token: String
        let client: TocsinClient
        let name: String
        let topic: String
        let message: String
        let incident: String
        let integration: String

        /// A document, command or body with the ids of what it is tried on.
        func filled(_ text: String) -> String {
            text.replacing("TOPIC", with: topic).replacing("MESSAGE", with: message)
                .replacing("ALARM", with: incident).replacing("WAYIN", with: integration)
                .replacing("SELF", with: name)
        }
    }

    /// One caller for each standing and kind of subject, each with a topic of its own.
    private func callers(_ scene: SharedScene, _ kinds: [SubjectKind]) async throws -> [Caller] {
        let bob = try await scene.installation.addUser("bob")
        let dora = try await scene.token(of: "dora", in: ["ops", "other"])
        let eve = try await scene.token(of: "eve", in: [])
        let carol = try await scene.installation.addUser("carol")
        try await scene.installation.administer(["group", "create", "night"])
        try await scene.installation.administer(["group", "add", "night", "carol"])
        var callers: [Caller] = []
        for standing in Standing.allCases {
            for kind in kinds {
                let (topic, message) = try await scene.makeTopic("\(standing)-\(kind)")
                let (name, token, subject): (String, String, JSONObject) =
                    switch kind {
                    case .user: ("bob", bob, ["user": "bob"])
                    case .group: ("carol", carol, ["group": "night"])
                    case .claimedGroup: ("dora", dora, ["group": "ops"])
                    case .everybody: ("eve", eve, ["everybody": true])
                    }
                if let roles = standing.roles { try await scene.share(topic, with: subject, as: roles) }
                let isOwner = standing == .owner
                let bearer = isOwner ? scene.ada : token
                callers.append(
                    Caller(
                        standing: standing,
                        kind: kind,
                        token: bearer,
                        client: try scene.installation.makeClient(token: bearer),
                        name: isOwner ? "ada" : name,
                        topic: topic,
                        message: message,
                        incident: try await scene.raise(in: topic),
                        integration: try await scene.make(
                            "Integration",
                            ["kind": "EVENT", "topicId": .string(topic)]
                        )
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

    @Test("over every transport each caller may do and hear exactly what the table says, however they got their roles")
    func matrix() async throws {
        try await SharedScene.run { scene in
            let callers = try await callers(scene, SubjectKind.allCases)
            try await LiveRights(scene: scene, callers: callers).check()
            let port = scene.installation.server?.port ?? 0
            try await withThrowingTaskGroup(of: Void.self) { group in
                for kind in SubjectKind.allCases {
                    group.addTask {
                        for caller in callers where caller.kind == kind { try await Self.tryRights(of: caller, port) }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// Tries each right over each transport that runs queries and mutations, and shows that the
    /// last one runs none.
    private static func tryRights(of caller: Caller, _ port: Int) async throws {
        let socket = try await RawSocket(port: port, token: caller.token)
        try await socket.untilReady()
        let path = AppSyncWords.path(caller.token)
        let appSync = try await RawSocket(port: port, path: path, subprotocols: AppSyncWords.subprotocol)
        for (number, right) in rights.enumerated() {
            let document = caller.filled(right.document)
            let cell = "\(caller.standing), by \(caller.kind): \(right.name)"
            try socket.send(
                ["id": .string("\(number)"), "type": "subscribe", "payload": ["query": .string(document)]]
            )
            let answers = [
                ("HTTP", try await answer(caller.client, document)), ("socket", try await payload(socket)),
                ("event stream", try await streamed(document, caller, port)),
            ]
            for (transport, answer) in answers {
                let isAllowed = isAllowed(right, answer)
                #expect(isAllowed == right.holders.contains(caller.standing), "\(transport), \(cell): \(answer)")
            }
            try appSync.send(AppSyncWords.start("\(number)", document))
            let refused = try await payload(appSync)
            let fault = refused["errors"]?["errors"]?[0]?["errorType"]
            #expect(fault == "UnsupportedOperation", "AppSync, \(cell): \(refused)")
        }
    }

    /// The response to a document over HTTP.
    private static func answer(_ client: TocsinClient, _ document: String) async throws -> JSONValue {
        do throws(ClientError) {
            return ["data": try await client.query(document)]
        } catch {
            return ["errors": [["extensions": ["code": .string(error.code.rawValue)]]]]
        }
    }

    /// The one response of an event stream.
    private static func streamed(_ document: String, _ caller: Caller, _ port: Int) async throws -> JSONValue {
        let stream = try RawStream(port: port, token: caller.token, document)
        _ = try await stream.untilEnd()
        let responses = try stream.responses()
        guard responses.count == 1 else { throw HarnessFailure("The stream has not one response: \(stream.text)") }
        return responses[0]
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

    @Test("routes and commands let each caller do exactly the same, by their name and by a group")
    func otherTransports() async throws {
        try await SharedScene.run { scene in
            for caller in try await callers(scene, [.user, .group]) {
                for right in Self.rights {
                    let expected = right.holders.contains(caller.standing)
                    let cell = "\(caller.standing), by \(caller.kind): \(right.name)"
                    // What can be done once is done in one of both ways.
                    if let route = right.route, !right.isLast || caller.kind != .group {
                        #expect(try await Self.allows(route, caller, scene) == expected, "route, \(cell)")
                    }
                    if let command = right.command, !right.isLast || caller.kind == .group {
                        let arguments = command.map(caller.filled)
                        let done = try await scene.installation.tocsin(arguments, token: caller.token)
                        #expect((done.status == 0) == expected, "command, \(cell): \(done.errors)")
                    }
                }
            }
        }
    }

    private static func allows(_ route: OlderRoute, _ caller: Caller, _ scene: SharedScene) async throws -> Bool {
        let body = route.body.map(caller.filled)
        let posted = body.map { ["--header", "Content-Type: application/json", "--data-binary", $0] } ?? []
        let answer = try await scene.installation.http(route.path, token: caller.token, posted)
        guard (200...299).contains(answer.status) else { return false }
        return body != nil || answer.body.contains(caller.message)
    }
}
