import Foundation
import JSON
import Testing
import TocsinClient

@Suite("What belongs to somebody else", .timeLimit(.minutes(5)))
struct IsolationTests {
    @Test("no operation shows it or changes it: it answers as what does not exist")
    func isolation() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let targets = try await Targets(scene)
            let before = try await targets.everythingOfAda()
            let fields = try await Probe.fields(installation, token: scene.bob)
            for probe in Probe.all where fields.contains(probe.field) {
                let foreign = try await targets.answer(to: probe, isThere: true)
                let absent = try await targets.answer(to: probe, isThere: false)
                #expect(foreign == absent, "\(probe.field) tells foreign from absent")
                #expect(!targets.shows(foreign), "\(probe.field) shows what is ada's: \(foreign)")
                #expect(!foreign.contains("VALIDATION_FAILED"), "\(foreign)")
                if probe.isRefused { #expect(foreign.contains("\"errors\""), "\(probe.field): \(foreign)") }
            }
            #expect(try await targets.everythingOfAda() == before)
            let pushes = try await scene.untilDelivered(2)
            #expect(pushes.count == 2 * Phone.ofAda.count, "\(pushes)")
        }
    }

    @Test("an id that somebody else uses reveals nothing and changes nothing")
    func foreignIDs() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let targets = try await Targets(scene)
            let before = try await targets.everythingOfAda()
            let topic = try await installation.curl(
                "mutation($input: CreateTopicInput!) { createTopic(input: $input) { id name owner } }",
                ["input": ["id": .string(scene.topicID), "name": "bobs"]],
                token: scene.bob
            )
            #expect(!targets.shows(topic.serializedString()), "\(topic)")
            #expect(try await targets.everythingOfAda() == before)
        }
    }

    @Test("every operation of the schema is tried, or left out for a reason")
    func probesAreComplete() async throws {
        try await Installation.run { installation in
            let token = try await installation.addUser("ada")
            let fields = try await Probe.fields(installation, token: token)
            #expect(fields.count > 10)
            let known = Set(Probe.all.map(\.field)).union(Probe.leftOut.keys)
            #expect(fields.subtracting(known).isEmpty)
        }
    }
}

/// One operation that bob tries on what is ada's.
struct Probe {
    let field: String
    let document: String
    /// Whether it writes, and so must be refused.
    let isRefused: Bool

    private init(_ field: String, _ document: String, isRefused: Bool = false) {
        self.field = field
        self.document = document
        self.isRefused = isRefused
    }

    private static func read(_ field: String, _ arguments: String, _ selection: String) -> Probe {
        Probe(field, "{ \(field)\(arguments) \(selection) }")
    }

    private static func write(_ field: String, _ arguments: String, _ selection: String) -> Probe {
        Probe(field, "mutation { \(field)(\(arguments)) \(selection) }", isRefused: true)
    }

    private static let topic = "{ id name arn owner createdAt _version }"
    private static let message = "{ id number title body owner topic { name } deliverySummary { accepted } }"

    private static let monitor = "{ id name slug topicId state uptime pings { items { body } } incident { id } owner }"
    private static let integration = "{ id name kind topicId keyHint events recent { status body } owner }"
    private static let incident = "{ id number title topicId timeline { items { text by } } topic { name } }"
    private static let user = "{ id name admin disabled groups createdAt }"

    /// `TOPIC`, `NAME`, `MESSAGE`, `SCHEDULE`, `DIGEST`, `INTEGRATION`, `MONITOR`, `ALARM`,
    /// `BEARER`, `GRANT`, `TOKEN`, `USERID`, `USER`, `GROUPID` and `GROUP` stand for what is ada's,
    /// or nobody's.
    static let all: [Probe] = [
        read("getTopic", #"(id: "TOPIC")"#, topic),
        read("getTopicByName", #"(name: "NAME")"#, "{ items \(topic) nextToken }"),
        read("listTopics", #"(filter: { id: { eq: "TOPIC" } })"#, "{ items \(topic) nextToken }"),
        read("syncTopics", "", "{ items \(topic) nextToken }"),
        read("getMessage", #"(id: "MESSAGE")"#, message),
        read("listMessages", #"(filter: { topicId: { eq: "TOPIC" } })"#, "{ items \(message) nextToken }"),
        read("syncMessages", "", "{ items \(message) nextToken }"),
        read("getMessageByTopicIdAndCreatedAt", #"(topicId: "TOPIC")"#, "{ items \(message) nextToken }"),
        read("history", "", "{ items \(message) nextToken }"),
        read("devices", "", "{ id token name active }"),
        read("auditEvents", #"(filter: { subject: "TOPIC" })"#, "{ items { id actor subject detail } nextToken }"),
        read("server", "", "{ node settings { value } }"),
        read("memberships", "", "{ topicId userId push }"),
        read("me", "", "{ userId username }"),
        read("explainDelivery", #"(messageId: "MESSAGE", userId: "ada")"#, "{ userId summary gates { sentence } }"),
        write("updateTopic", #"input: { id: "TOPIC", name: "taken", _version: 1 }"#, topic),
        write("deleteTopic", #"input: { id: "TOPIC", _version: 1 }"#, topic),
        write("createMessage", #"input: { topicId: "TOPIC", type: 1, title: "t", body: "b" }"#, message),
        write("updateMessage", #"input: { id: "MESSAGE", title: "taken", _version: 1 }"#, message),
        write("deleteMessage", #"input: { id: "MESSAGE", _version: 1 }"#, message),
        write("subscribeToTopic", #"topicId: "TOPIC""#, "{ topicId userId push }"),
        write("redriveDeliveries", #"messageId: "MESSAGE", status: FAILED"#, "{ waiting accepted }"),
        Probe("removeMember", #"mutation { removeMember(topicId: "TOPIC", userId: "TOPIC") { push } }"#),
        write("grantTopic", #"input: { topicId: "TOPIC", everybody: true, roles: [READER] }"#, "{ id topicId }"),
        write("revokeGrant", #"id: "GRANT""#, "{ id topicId subject }"),
        write("leaveTopic", #"topicId: "TOPIC""#, "{ topicId push }"),
        read("getScheduledMessage", #"(id: "SCHEDULE")"#, "{ id name topicId owner }"),
        read("listScheduledMessages", "", "{ items { id name topicId owner } nextToken }"),
        write(
            "createScheduledMessage",
            #"input: { topicId: "TOPIC", input: "{\"type\":1,\"title\":\"t\",\"body\":\"b\"}", cron: "0 0 1 1 *" }"#,
            "{ id owner }"
        ),
        write("updateScheduledMessage", #"input: { id: "SCHEDULE", name: "taken" }"#, "{ id name owner }"),
        write("deleteScheduledMessage", #"input: { id: "SCHEDULE" }"#, "{ id name owner }"),
        read("tokens", #"(user: "USERID")"#, "{ items { id name user scopes } nextToken }"),
        write("createToken", #"input: { name: "n", user: "USERID", scopes: ["read"] }"#, "{ text token { id user } }"),
        write("updateToken", #"id: "BEARER", input: { name: "taken" }"#, "{ id name user }"),
        write("rotateToken", #"id: "BEARER""#, "{ text token { id user } }"),
        write("revokeToken", #"id: "BEARER""#, "{ id name user }"),
        Probe("revokeAllTokens", #"mutation { revokeAllTokens(user: "USERID") }"#, isRefused: true),
        read("users", "", "{ items \(user) nextToken }"),
        read("user", #"(name: "USER")"#, user),
        read("groups", "", "{ items { id name } nextToken }"),
        read("group", #"(name: "GROUP")"#, "{ id name members { items { name } } }"),
        write("createUser", #"name: "USER""#, user),
        write("createServiceAccount", #"name: "robot", managedBy: "USER""#, user),
        write("setUserDisabled", #"id: "USERID", disabled: true"#, user),
        write("setAdmin", #"id: "USERID", admin: true"#, user),
        write("setGroupMaker", #"id: "USERID", groupMaker: true"#, user),
        write("resetPassword", #"id: "USERID""#, "{ password user { name } }"),
        write("createGroup", #"name: "GROUP""#, "{ id name }"),
        write("deleteGroup", #"id: "GROUPID""#, "{ id name }"),
        write("addGroupMember", #"groupId: "GROUPID", user: "USER""#, "{ id name }"),
        write("removeGroupMember", #"groupId: "GROUPID", user: "USER""#, "{ id name }"),
        read("getDigest", #"(id: "DIGEST")"#, "{ id name topicIds owner }"),
        read("listDigests", "", "{ items { id name topicIds owner } nextToken }"),
        write(
            "createDigest",
            #"input: { topicIds: ["TOPIC"], name: "d", at: "08:00", timeZone: "UTC" }"#,
            "{ id owner }"
        ),
        write("updateDigest", #"input: { id: "DIGEST", name: "taken" }"#, "{ id name owner }"),
        write("deleteDigest", #"input: { id: "DIGEST" }"#, "{ id name owner }"),
        read("getIntegration", #"(id: "INTEGRATION")"#, integration),
        read("listIntegrations", "", "{ items \(integration) nextToken }"),
        read("syncIntegrations", "", "{ items \(integration) nextToken }"),
        read("integrationsByName", #"(name: "ada's own")"#, "{ items \(integration) nextToken }"),
        read("integrationsByTopicId", #"(topicId: "TOPIC")"#, "{ items \(integration) nextToken }"),
        write("createIntegration", #"input: { name: "i", kind: EVENT, topicId: "TOPIC" }"#, "{ id owner }"),
        write("updateIntegration", #"input: { id: "INTEGRATION", name: "taken", _version: 1 }"#, integration),
        write("deleteIntegration", #"input: { id: "INTEGRATION", _version: 1 }"#, integration),
        write("rotateIntegrationKey", #"id: "INTEGRATION""#, "{ key url integration \(integration) }"),
        write("revokeIntegrationKey", #"id: "INTEGRATION", hint: "abcd""#, integration),
        read("getMonitor", #"(id: "MONITOR")"#, monitor),
        read("listMonitors", "", "{ items \(monitor) nextToken }"),
        read("syncMonitors", "", "{ items \(monitor) nextToken }"),
        read("monitorsBySlug", #"(slug: "adas-own")"#, "{ items \(monitor) nextToken }"),
        write(
            "createMonitor",
            #"input: { name: "m", slug: "m", periodSeconds: 60, topicId: "TOPIC" }"#,
            "{ id owner }"
        ),
        write("updateMonitor", #"input: { id: "MONITOR", name: "taken", _version: 1 }"#, monitor),
        write("deleteMonitor", #"input: { id: "MONITOR", _version: 1 }"#, monitor),
        write("rotateMonitorKey", #"id: "MONITOR""#, "{ key url monitor \(monitor) }"),
        write("pingMonitor", #"id: "MONITOR""#, monitor), write("pauseMonitor", #"id: "MONITOR""#, monitor),
        write("pressButton", #"messageId: "MESSAGE", id: "http1""#, "{ isDone status }"),
        write("setIntegrationSecret", #"id: "INTEGRATION", name: SIGNATURE, value: "s""#, integration),
        read("getIncident", #"(id: "ALARM")"#, incident),
        read("listIncidents", #"(filter: { topicId: { eq: "TOPIC" } })"#, "{ items \(incident) nextToken }"),
        read("syncIncidents", "", "{ items \(incident) nextToken }"),
        read("incidentsByTopicIdAndOpenedAt", #"(topicId: "TOPIC")"#, "{ items \(incident) nextToken }"),
        read("incidentsByStateAndOpenedAt", "(state: OPEN)", "{ items \(incident) nextToken }"),
        write("raiseIncident", #"input: { topicId: "TOPIC", title: "t" }"#, incident),
        write("acknowledgeIncident", #"id: "ALARM""#, incident),
        write("unacknowledgeIncident", #"id: "ALARM""#, incident),
        write("snoozeIncident", #"id: "ALARM", minutes: 5"#, incident),
        write("resolveIncident", #"id: "ALARM""#, incident),
        write("reopenIncident", #"id: "ALARM""#, incident),
        write("addIncidentNote", #"id: "ALARM", text: "t""#, "{ number by }"),
        read("readState", "", "{ unread topics { topicId } }"),
        Probe("markRead", #"mutation { markRead(topicId: "TOPIC") { unread topics { topicId } } }"#),
        Probe("sendPush", #"mutation { sendPush(tokens: ["TOKEN"], title: "t") { devices unknownTokens } }"#),
        Probe("unsubscribeFromTopic", #"mutation { unsubscribeFromTopic(topicId: "TOPIC") { topicId push } }"#),
        Probe("setNotifications", "mutation { setNotifications(enabled: false) { userId notifications } }"),
        Probe("unregisterPushToken", #"mutation { unregisterPushToken(token: "TOKEN") { userId pushTokens } }"#),
    ]

    /// The fields of Query, Mutation and Subscription, as the running server has them.
    static func fields(_ installation: Installation, token: String) async throws -> Set<String> {
        let roots = """
            { __schema { queryType { fields { name } } mutationType { fields { name } } subscriptionType { fields { name } } } }
            """
        let schema = try await installation.curl(roots, token: token)["data"]?["__schema"]
        let names = ["queryType", "mutationType", "subscriptionType"].flatMap { root in
            schema?[root]?["fields"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
        }
        return Set(names)
    }

    private static let subscriptions = [
        "onCreateTopic", "onUpdateTopic", "onDeleteTopic", "onCreateMessage", "onUpdateMessage", "onDeleteMessage",
        "onDelivery", "onCreateIntegration", "onUpdateIntegration", "onDeleteIntegration",
        "onCreateMonitor", "onUpdateMonitor", "onDeleteMonitor",
    ]

    static let leftOut = operationsLeftOut.merging(
        subscriptions.map { ($0, "Tried by IsolatedSubscriptionTests.") },
        uniquingKeysWith: { first, _ in first }
    )

    private static let operationsLeftOut = [
        "onCreateIncident": "One machine with onCreateTopic; tried by SharedIncidentTests.",
        "onReadState": "Is about who asks, and takes no id; tried by ReadStateFeedTests.",
        "onIncidentEntry": "Tried by IncidentEntryTests with another's incident.",
        "onAuditEvent": "Is the administrators'; tried by FollowedAuditTests.",
        "onUpdateIncident": "One machine with onUpdateTopic; tried by SharedIncidentTests.",
        "onDeleteIncident": "One machine with onDeleteTopic.",
        "createTopic": "Tried in a test of its own.",
        "notificationCategories": "Says the same to everybody: what a file of the operator's says.",
        "previewReceiver": "Says the same to everybody of what they send.",
        "serverInfo": "Says the same to everybody.",
        "webPushKey": "Says the same to everybody: the public half of the server's key.",
        "registrationChallenge": "Is made for who asks; tried by SignedRegistrationTests.",
        "mySettings": "Is about who asks, and takes no id.",
        "setMySettings": "Is about who asks, and takes no id.",
        "doNotDisturb": "Is about who asks, and takes no id.",
        "setPassword": "Is about who asks, and takes no id.",
        "sessions": "Is about who asks, and takes no id.",
        "identities": "Is about who asks, and takes no id.",
        "unlinkIdentity": "Tried by LinkedIdentityTests with another's identity.",
        "signIn": "Is for who has not signed in; tried by PasswordSignInTests.",
        "refreshSession": "Is about who asks, and takes no id.",
        "signOut": "Ends what the probes sign in with; tried by PasswordSignInTests.",
        "endSession": "Tried by PasswordSignInTests with another's session.",
        "registerPushToken": "Moves a device to who holds its token, by design.",
    ]
}

/// What the probes aim at, and what nobody has.
private struct Targets {
    let scene: Scene
    private let messageID: String
    private let scheduleID: String
    private let groupID: String
    private let userID: String
    private let bearerID: String
    private let grantID: String
    private let digestID: String
    private let integrationID: String
    private let monitorID: String
    private let incidentID: String
    private static let title = "Ada's secret"
    private static let body = "Only for her"

    init(_ scene: Scene) async throws {
        self.scene = scene
        let client = try scene.installation.makeClient(token: scene.ada)
        let message = try await client.publish(topic: .id(scene.topicID), title: Self.title, body: Self.body)
        messageID = message.id
        let schedule = try await scene.installation.curl(
            "mutation($input: CreateScheduledMessageInput!) { createScheduledMessage(input: $input) { id } }",
            [
                "input": [
                    "topicId": .string(scene.topicID), "name": "ada's own", "cron": "0 0 1 1 *",
                    "input": #"{"type":1,"title":"t","body":"b"}"#,
                ]
            ],
            token: scene.ada
        )
        scheduleID = try #require(schedule["data"]?["createScheduledMessage"]?["id"]?.stringValue, "\(schedule)")
        try await scene.installation.administer(["group", "create", "oncall"])
        try await scene.installation.administer(["group", "add", "oncall", "ada"])
        let group = try await scene.installation.administer(["group", "list", "--json"])
        groupID = try #require(try JSONParser.parse(group)["id"]?.stringValue)
        let own = try await scene.installation.curl("{ me { userId } tokens { items { id } } }", token: scene.ada)
        userID = try #require(own["data"]?["me"]?["userId"]?.stringValue, "\(own)")
        bearerID = try #require(own["data"]?["tokens"]?["items"]?[0]?["id"]?.stringValue, "\(own)")
        grantID = try await scene.installation.share(
            scene.topicID,
            with: ["group": "adas"],
            as: ["READER", "OWNER"],
            token: scene.ada
        )
        let digest = try await scene.installation.curl(
            "mutation($input: CreateDigestInput!) { createDigest(input: $input) { id } }",
            [
                "input": [
                    "topicIds": [.string(scene.topicID)], "name": "ada's own", "at": "08:00", "timeZone": "UTC",
                ]
            ],
            token: scene.ada
        )
        digestID = try #require(digest["data"]?["createDigest"]?["id"]?.stringValue, "\(digest)")
        let integration = try await scene.installation.curl(
            "mutation($input: CreateIntegrationInput!) { createIntegration(input: $input) { id } }",
            ["input": ["name": "ada's own", "kind": "EVENT", "topicId": .string(scene.topicID)]],
            token: scene.ada
        )
        integrationID = try #require(integration["data"]?["createIntegration"]?["id"]?.stringValue, "\(integration)")
        let monitor = try await scene.installation.curl(
            "mutation($input: CreateMonitorInput!) { createMonitor(input: $input) { id } }",
            [
                "input": [
                    "name": "ada's own", "slug": "adas-own", "periodSeconds": 60, "topicId": .string(scene.topicID),
                ]
            ],
            token: scene.ada
        )
        monitorID = try #require(monitor["data"]?["createMonitor"]?["id"]?.stringValue, "\(monitor)")
        let incident = try await scene.installation.curl(
            "mutation($input: RaiseIncidentInput!) { raiseIncident(input: $input) { id } }",
            ["input": ["topicId": .string(scene.topicID), "title": .string(Self.title), "body": .string(Self.body)]],
            token: scene.ada
        )
        incidentID = try #require(incident["data"]?["raiseIncident"]?["id"]?.stringValue, "\(incident)")
        _ = try await scene.untilDelivered(2)
    }

    /// Bob's answer, with the ids he asked for taken out.
    func answer(to probe: Probe, isThere: Bool) async throws -> String {
        let values = [
            ("TOPIC", isThere ? scene.topicID : "01900000-0000-7000-8000-000000000001"),
            ("MESSAGE", isThere ? messageID : "01900000-0000-7000-8000-000000000002"),
            ("SCHEDULE", isThere ? scheduleID : "01900000-0000-7000-8000-000000000003"),
            ("USERID", isThere ? userID : "01900000-0000-7000-8000-000000000004"),
            ("GROUPID", isThere ? groupID : "01900000-0000-7000-8000-000000000005"),
            ("USER", isThere ? "ada" : "nobody"), ("GROUP", isThere ? "oncall" : "nogroup"),
            ("BEARER", isThere ? bearerID : "01900000-0000-7000-8000-000000000006"),
            ("GRANT", isThere ? grantID : "01900000-0000-7000-8000-000000000007"),
            ("ALARM", isThere ? incidentID : "01900000-0000-7000-8000-000000000009"),
            ("DIGEST", isThere ? digestID : "01900000-0000-7000-8000-000000000008"),
            ("MONITOR", isThere ? monitorID : "01900000-0000-7000-8000-000000000010"),
            ("INTEGRATION", isThere ? integrationID : "01900000-0000-7000-8000-00000000000a"),
            ("NAME", isThere ? "alerts" : "nobodys"),
            ("TOKEN", isThere ? Phone.firstIOS : String(repeating: "c9", count: 32)),
        ]
        var document = probe.document
        for (name, value) in values { document = document.replacingOccurrences(of: name, with: value) }
        var answer = try await scene.installation.curl(document, token: scene.bob).serializedString()
        for (name, value) in values { answer = answer.replacingOccurrences(of: value, with: name) }
        return answer
    }

    func shows(_ answer: String) -> Bool {
        [Self.title, Self.body, "ada", Phone.firstIOS.prefix(8).description].contains { answer.contains($0) }
    }

    /// All that is ada's, as she sees it.
    func everythingOfAda() async throws -> JSONValue {
        let query = """
            { listTopics { items { id name arn owner updatedAt _version _deleted } }
              listMessages { items { id number title body owner updatedAt _version deliverySummary { accepted } } }
              devices { id token active disabledReason } memberships { topicId userId push } me { notifications groups admin }
              listScheduledMessages { items { id name enabled owner updatedAt } }
              listDigests { items { id name owner updatedAt } }
              listIntegrations { items { id name keyHints secrets updatedAt _version _deleted } }
              listMonitors { items { id name state updatedAt _version _deleted pings { items { at } } } }
              listIncidents { items { id number state occurrences _version timeline { items { number } } } }
              tokens { items { id name scopes expiresAt revokedAt rotatedTo } } }
            """
        let answer = try await scene.installation.curl(query, token: scene.ada)
        #expect(answer["errors"] == nil, "\(answer)")
        return answer
    }
}
