public import JSON

// How each provider's payload is read.
extension PushContent {
    /// Reads what Apple's system hands over with a notification, or to the method for remote ones.
    ///
    /// It is `request.content.userInfo`, or the dictionary of `didReceiveRemoteNotification`.
    /// Pushes that Firebase brought to an iPhone are read as well.
    public init(userInfo: [AnyHashable: Any]) { self.init(apple: JSONObject(plain: userInfo)) }

    /// Reads Apple's payload from JSON.
    public init(apple payload: JSONObject) {
        var fields = PushFields(payload)
        fields.drop(prefixes: ["gcm.", "google."])
        let aps = fields.object("aps") ?? [:]
        let alert = aps["alert"].flatMap { $0.isNull ? nil : $0 }
        title = alert?["title"].flatMap(PushFields.text)
        subtitle = alert?["subtitle"].flatMap(PushFields.text)
        body = alert?.stringValue ?? alert?["body"].flatMap(PushFields.text)
        threadID = aps["thread-id"]?.stringValue
        category = aps["category"]?.stringValue
        badge = aps["badge"].flatMap(PushFields.number)
        image = fields.object("fcm_options")?["image"]?.stringValue
        // A call has its texts beside an empty `aps`.
        read(&fields, nestsData: true, hasTexts: alert == nil)
        isSilent = alert == nil && title == nil && sealed == nil
    }

    /// Reads the data of a Firebase message: `RemoteMessage.getData()`.
    ///
    /// - Parameters:
    ///   - data: The map of texts.
    ///   - hasNotification: Whether the message has a part that the system shows
    ///     (`getNotification() != null`). Without it this is told by the data.
    public init(fcm data: [String: String], hasNotification: Bool? = nil) {
        let members = data.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) }
        var fields = PushFields(JSONObject(members))
        fields.drop(prefixes: ["gcm.", "google."])
        // What the app itself must show comes with these.
        let hasTexts = data["tag"] != nil && (data["encrypted"] != nil || data["title"] != nil && data["body"] != nil)
        let isForApp = hasNotification.map { !$0 } ?? hasTexts
        if hasTexts { _ = fields.text("tag") }
        if isForApp {
            badge = fields.number("badge")
            _ = fields.text("channelId")
            isSilent = hasTexts && data["encrypted"] == nil
        }
        read(&fields, nestsData: false, hasTexts: isForApp)
    }

    /// Reads what a service worker gets: `event.data.json()`.
    public init(webPush payload: JSONValue) {
        guard let notification = payload["notification"], notification["data"]?.objectValue != nil else {
            self = PushContent(item: payload)
            return
        }
        var fields = PushFields(notification["data"]?.objectValue)
        title = notification["title"]?.stringValue
        body = notification["body"]?.stringValue
        image = notification["image"]?.stringValue
        badge = payload["app_badge"].flatMap(PushFields.number)
        read(&fields, nestsData: true, hasTexts: false)
        if actions.isEmpty { actions = (notification["actions"]?.arrayValue ?? []).compactMap { PushAction($0) } }
        url = url ?? notification["navigate"]?.stringValue
        isSilent = payload["silent"]?.boolValue ?? false
    }

    /// Reads a row of the API, an item of the REST history, or plain `{id, timestamp, type, url}`.
    public init(item: JSONValue) {
        var fields = PushFields(item.objectValue)
        let notification = fields.object("notification")
        title = notification?["title"]?.stringValue
        body = notification?["body"]?.stringValue
        read(&fields, nestsData: true, hasTexts: true)
    }

    /// Takes what all forms have in common.
    ///
    /// - Parameters:
    ///   - fields: The members, of which the known ones are taken.
    ///   - nestsData: Whether the publisher's values are a member `data`, or stand among the rest.
    ///   - hasTexts: Whether `title` and `body` are the message's; ciphertext always is.
    private mutating func read(_ fields: inout PushFields, nestsData: Bool, hasTexts: Bool) {
        take(from: &fields)
        let isEncrypted = fields.flag("encrypted")
        var inner = SealedText()
        if hasTexts || isEncrypted {
            inner.title = fields.text("title")
            inner.body = fields.text("body")
        }
        if nestsData { data = fields.object("data") ?? [:] }
        if messageID == nil, !data.isEmpty {
            var nested = PushFields(data)
            take(from: &nested)
            data = nested.rest
        }
        for member in fields.rest where data[member.key] == nil { data[member.key] = member.value }
        putBackNames()
        seal(inner, isEncrypted)
    }

    private mutating func take(from fields: inout PushFields) {
        messageID = messageID ?? fields.text("messageId", "id")
        deliveryID = deliveryID ?? fields.text("deliveryId")
        topicID = topicID ?? fields.text("topicId")
        number = number ?? fields.number("number")
        cursor = cursor ?? fields.text("cursor")
        type = type ?? fields.text("type")
        url = url ?? fields.text("url")
        // What the system shows counts for more; both say the same.
        let named = fields.text("category")
        category = category ?? named
        createdAt = createdAt ?? fields.text("createdAt", "timestamp")
        image = fields.text("image") ?? image
        priority = priority ?? fields.number("priority")
        if actions.isEmpty { actions = fields.list("actions").compactMap { PushAction($0) } }
    }

    /// A name that the server uses itself came as `data.<name>`; Firebase gives an iPhone both.
    private mutating func putBackNames() {
        for key in data.keys where key.hasPrefix("data.") {
            let name = String(key.dropFirst(5))
            guard !name.isEmpty, data[name] == nil || data[name] == data[key] else { continue }
            data[name] = data[key]
            data[key] = nil
        }
    }

    /// Tells ciphertext from texts: by the flag, by a type 2 with a secret, or by its beginning.
    private mutating func seal(_ inner: SealedText, _ isEncrypted: Bool) {
        var inner = inner
        inner.secret = data["secret"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
        if isEncrypted {
            sealed = inner
            return
        }
        title = title ?? inner.title
        body = body ?? inner.body
        let isOlderForm = type == "2" && inner.secret != nil
        guard isOlderForm || body?.hasPrefix("tocsin1.") == true else { return }
        sealed = SealedText(title: title, body: body, secret: inner.secret)
        (title, body) = (nil, nil)
    }
}
