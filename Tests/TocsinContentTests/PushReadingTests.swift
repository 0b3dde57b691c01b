import JSON
import Testing
import TocsinContent

@Suite("Reading pushes")
struct PushReadingTests {
    @Test("a push that Firebase brought to an iPhone reads as Apple's own")
    func firebaseOnApple() {
        let content = PushContent(userInfo: [
            "aps": ["alert": ["title": "T", "body": "B"], "badge": 3], "gcm.message_id": "1", "google.c.a.e": "1",
            "id": "m1", "messageId": "m1", "topicId": "t1", "number": "5", "type": "upvote", "data.type": "own",
            "title": "the publisher's", "createdAt": "2026-01-01T00:00:00Z",
        ])
        #expect(content.messageID == "m1" && content.number == 5 && content.type == "upvote" && content.badge == 3)
        #expect(content.title == "T" && content.body == "B" && content.typeNumber == nil)
        #expect(content.text("type") == "own" && content.text("title") == "the publisher's")
        #expect(content.data.count == 2, "\(content.data)")
    }

    @Test("an alert may be a text alone, and numbers may be texts")
    func looseForms() {
        let content = PushContent(userInfo: ["aps": ["alert": "Hello", "badge": "4"], "number": "12", "id": 7])
        #expect(content.body == "Hello" && content.title == nil && content.badge == 4 && content.number == 12)
        #expect(content.messageID == "7" && !content.isSilent)
    }

    @Test("ids alone say that the message must be fetched")
    func reduced() {
        let content = PushContent(userInfo: [
            "aps": ["alert": ["title": "T"]], "messageId": "m1", "topicId": "t1", "number": 1, "deliveryId": "d",
        ])
        #expect(content.isReduced && content.url == nil && content.data.isEmpty)
        #expect(!PushContent(fcm: ["id": "1", "type": "like", "url": "/posts/1"]).isReduced)
    }

    @Test(
        "a campus app's {id, timestamp, type, url} reads the same wherever it stands",
        arguments: [
            PushContent(userInfo: [
                "aps": ["alert": ["title": "T", "body": "B"]],
                "data": ["id": "9", "timestamp": "2026-01-01", "type": "upvote", "url": "/posts/9"],
            ]),
            PushContent(fcm: ["id": "9", "timestamp": "2026-01-01", "type": "upvote", "url": "/posts/9"]),
            PushContent(item: [
                "notification": ["title": "T", "body": "B"],
                "data": ["id": "9", "timestamp": "2026-01-01", "type": "upvote", "url": "/posts/9"],
            ]),
            PushContent(webPush: ["id": "9", "timestamp": "2026-01-01", "type": "upvote", "url": "/posts/9"]),
        ]
    )
    func campus(content: PushContent) {
        #expect(content.messageID == "9" && content.createdAt == "2026-01-01")
        #expect(content.type == "upvote" && content.url == "/posts/9" && content.data.isEmpty)
    }

    @Test("a row of the API reads as the push of the same message")
    func row() {
        let content = PushContent(item: [
            "id": "m1", "number": 4, "cursor": "c", "type": 2, "title": "T", "body": "B", "topicId": "t1",
            "createdAt": "2026-01-01T00:00:00Z", "url": .null, "data": "{\"branch\":\"main\"}", "priority": 4,
        ])
        #expect(content.messageID == "m1" && content.number == 4 && content.priority == 4 && content.title == "T")
        #expect(content.text("branch") == "main" && content.url == nil && !content.isSilent)
    }

    @Test("a service worker's push gives link, buttons, data and badge")
    func webPush() {
        let content = PushContent(webPush: [
            "silent": false, "app_badge": 3,
            "notification": [
                "tag": "m1", "title": "T", "body": "B", "navigate": "https://a.example/1",
                "actions": [["action": "ACK", "title": "Acknowledge"]],
                "data": [
                    "deliveryId": "d", "messageId": "m1", "topicId": "t1", "number": 1, "type": 0,
                    "createdAt": "2026", "data": ["type": "due"],
                ],
            ],
        ])
        #expect(content.url == "https://a.example/1" && content.badge == 3 && content.type == "0")
        #expect(content.actions.map(\.id) == ["ACK"] && content.text("type") == "due" && !content.isSilent)
    }

    @Test("a sealed message is known by its beginning, and by the older type 2 with a secret")
    func sealed() {
        let marked = PushContent(item: ["id": "m1", "title": "", "body": "tocsin1.AAAA", "type": 0])
        #expect(marked.sealed?.body == "tocsin1.AAAA" && marked.body == nil)
        let older = PushContent(item: ["id": "m1", "title": "c1", "body": "c2", "type": 2, "data": ["secret": "s"]])
        #expect(older.sealed == .init(title: "c1", body: "c2", secret: "s") && older.title == nil)
        #expect(PushContent(item: ["id": "m1", "title": "plain", "type": 2]).sealed == nil)
    }

    @Test("what was pressed names its button, from the push or from the app's categories")
    func responses() {
        let push = PushContent(userInfo: ["aps": ["alert": "x", "category": "TASK_ACTIONABLE"], "url": "/t/1"])
        let opened = PushResponse(actionID: "com.apple.UNNotificationDefaultActionIdentifier", push: push)
        #expect(opened.kind == .opened && opened.url == "/t/1")
        let dismissed = PushResponse(actionID: "com.apple.UNNotificationDismissActionIdentifier", push: push)
        #expect(dismissed.kind == .dismissed && dismissed.url == nil)
        let edit = PushResponse(actionID: "EDIT", text: "later", push: push, categories: .tasks)
        #expect(edit.url == "/t/1" && edit.text == "later")
        guard case .action(let id, let action) = edit.kind else { return #expect(Bool(false), "\(edit.kind)") }
        #expect(id == "EDIT" && action?.title == "Edit" && action?.opensApp == true)
        #expect(PushResponse(actionID: "SKIP", push: push, categories: .tasks).url == nil)
        #expect(PushResponse(actionID: "OTHER", push: push).kind == .action(id: "OTHER", nil))
    }

    @Test("categories are read from the API's answer and from a file; the tasks' are there before")
    func categories() {
        let action: JSONValue = [
            "id": "REPLY", "title": "Reply", "foreground": false, "authenticationRequired": true,
            "textInput": ["buttonTitle": "Send", "placeholder": "Message"],
        ]
        let list: JSONValue = [["id": "MESSAGE", "hiddenPreview": "New", "actions": [action]], ["no": "id"]]
        for form in [list, ["categories": list], ["notificationCategories": list]] as [JSONValue] {
            let categories = NotificationCategories(json: form)
            #expect(categories.categories.count == 1 && categories["MESSAGE"]?.hiddenPreview == "New")
            #expect(categories["MESSAGE"]?.actions.first?.textInput?.buttonTitle == "Send")
            #expect(categories["MESSAGE"]?.actions.first?.needsUnlock == true)
        }
        #expect(NotificationCategories.tasks["TASK_IN_PROGRESS"]?.actions.map(\.id) == ["COMPLETE", "EDIT", "CANCEL"])
    }

    @Test("each message is shown once, and the oldest ids are forgotten first")
    func shown() {
        var shown = ShownMessages(limit: 3)
        let isNew = ["a", "b", "c", "b", "d"].map { shown.insert($0) }
        #expect(
            isNew == [true, true, true, false, true] && shown.ids == ["b", "c", "d"] && !shown.contains("a")
                && shown.count == 3
        )
        #expect(ShownMessages(shown.ids, limit: 3) == ShownMessages(["x", "b", "c", "d"].suffix(3), limit: 3))
        for number in 0..<10_000 { shown.insert("m\(number)") }
        #expect(shown.count == 3 && shown.ids == ["m9997", "m9998", "m9999"])
    }

    @Test("in the foreground a push is shown once, and not over its own topic")
    func foreground() {
        var shown = ShownMessages()
        var push = PushContent()
        push.messageID = "m1"
        push.topicID = "t1"
        #expect(PushReception.presentation(of: push, shown: &shown) == .banner)
        #expect(PushReception.presentation(of: push, shown: &shown) == .nothing)
        push.messageID = "m2"
        #expect(PushReception.presentation(of: push, shown: &shown, openTopicID: "t1") == .nothing)
        push.messageID = nil
        push.isSilent = true
        #expect(PushReception.presentation(of: push, shown: &shown) == .nothing)
        #expect(Set(PushReception.table.map(\.state)) == Set(AppState.allCases))
    }

    @Test("the wallet apps' eleven keys are read, whatever is missing")
    func elevenKeys() {
        let data = [
            "sid": "s1", "type": "2", "app": "Bank", "icon": "https://i.example/1.png", "url": "https://b.example",
            "asub": "c1", "amsg": "c2", "acta": "c3", "aimg": "c4", "secret": "04ab", "epoch": "1700000000",
        ]
        #expect(Set(data.keys) == Set(EPNSPayload.keys) && EPNSPayload.keys.count == 11)
        let payload = EPNSPayload(data: data)
        #expect(payload.id == "s1" && payload.kind == .secret && payload.app == "Bank" && payload.subject == "c1")
        #expect(payload.message == "c2" && payload.callToAction == "c3" && payload.image == "c4")
        #expect(payload.secret == "04ab" && payload.epochMilliseconds == 1_700_000_000_000)
        let empty = EPNSPayload(data: [String: String]())
        #expect(empty.kind == .other(nil) && empty.epochMilliseconds == nil)
        #expect(EPNSPayload(data: ["epoch": 1_700_000_000_123, "type": 1]).epochMilliseconds == 1_700_000_000_123)
        #expect(EPNSPayload(data: ["epoch": .int(.min)]).epochMilliseconds == .min)
        // From a push of this server the message fills what the publisher left out.
        let push = PushContent(item: ["id": "m1", "type": 1, "title": "T", "body": "B", "data": ["app": "Bank"]])
        let filled = EPNSPayload(push: push)
        #expect(filled.id == "m1" && filled.kind == .plain && filled.subject == "T" && filled.app == "Bank")
    }

    @Test("a row of the device's table has its fourteen facts in order")
    func fourteenFacts() {
        let payload = EPNSPayload(data: [
            "sid": "s1", "type": "1", "asub": "T", "hidden": "1", "epoch": "1700000000123",
        ])
        let row = DevicePayload(rowID: 3, payload: payload).row
        #expect(row.keys == DevicePayload.columns && row.count == 14)
        #expect(row["nid"] == 3 && row["sid"] == "s1" && row["type"] == 1 && row["asub"] == "T" && row["app"] == .null)
        #expect(row["hidden"] == 1 && row["appbot"] == 0 && row["epoch"] == 1_700_000_000_123)
    }
}
