import JSON
package import TocsinCore

/// Words what happened for the webhooks that want to know.
package struct WebhookRegistry: WebhookRaising {
    private let reloadable: Reloadable<[Webhook]>
    private var webhooks: [Webhook] { reloadable.value }
    private let identifiers: any IdentifierSource
    /// Makes action links; nil where nobody knows the server's public address.
    let links: IncidentLinks?
    /// As much of a token as its owner sees in lists.
    private static let shownCharacters = 8

    /// A registry of the settings' webhooks.
    package init(
        webhooks: Reloadable<[Webhook]>,
        identifiers: any IdentifierSource,
        links: IncidentLinks? = nil
    ) {
        reloadable = webhooks
        (self.identifiers, self.links) = (identifiers, links)
    }

    /// One event, with its body, for each webhook that wants to know of the occurrence.
    package func events(for occurrence: WebhookOccurrence, at moment: Timestamp) -> [WebhookEvent] {
        if case .incident(let news) = occurrence { return events(of: news) }
        guard let type = Self.type(of: occurrence) else { return [] }
        var only: String?
        if case .scheduleDue(let due) = occurrence { only = due.webhook }
        return webhooks.filter { $0.types.contains(type) && (only == nil || only == $0.name) }.map { webhook in
            let body: JSONValue = [
                "type": .string(type.rawValue), "timestamp": .string(moment.iso8601),
                "data": .object(Self.data(of: occurrence, includesTokens: webhook.includesTokens)),
            ]
            return WebhookEvent(
                id: WebhookEventID("msg_" + identifiers.makeID()),
                webhook: webhook.name,
                type: type,
                body: body.serializedString(),
                createdAt: moment
            )
        }
    }

    func listening(to type: WebhookEventType) -> [Webhook] { webhooks.filter { $0.types.contains(type) } }

    func makeID() -> String { identifiers.makeID() }

    /// The names of the webhooks that want to know of a type.
    package func listeners(to type: WebhookEventType) -> [String] {
        webhooks.filter { $0.types.contains(type) }.map(\.name)
    }

    /// Whether a webhook listens to schedules, and the settings name this person.
    package func takesSchedules(_ webhook: String, of owner: ScheduledMessage.Owner) -> Bool {
        guard let webhook = webhooks.first(where: { $0.name == webhook }), webhook.types.contains(.scheduleDue)
        else { return false }
        let users = webhook.scheduleUsers
        if users.contains("*") || users.contains(owner.userID.text) { return true }
        // Issuers beside the user pool may have people of the same name.
        return owner.provider == .userPools && users.contains(owner.username)
    }

    private static func type(of occurrence: WebhookOccurrence) -> WebhookEventType? {
        switch occurrence {
        case .registered: .registerPushToken
        case .unregistered: .unregisterPushToken
        case .pushRequested: .sendPushNotification
        case .scheduleDue: .scheduleDue
        case .incident(let news): WebhookEventType(news.change)
        }
    }

    private static func data(of occurrence: WebhookOccurrence, includesTokens: Bool) -> JSONObject {
        switch occurrence {
        case .registered(let device):
            return members(of: device, includesTokens)
        case .unregistered(let device, let reason):
            var data = members(of: device, includesTokens)
            data["reason"] = .string(reason.rawValue)
            return data
        case .pushRequested(let request):
            var data: JSONObject = ["messageId": .string(request.messageID.text)]
            if let topic = request.topicID { data["topicId"] = .string(topic.text) }
            if let owner = request.owner { data["owner"] = .string(owner) }
            if let user = request.userID { data["userId"] = .string(user.text) }
            if let number = request.number { data["number"] = .int(number) }
            if let priority = request.priority { data["priority"] = .int(priority) }
            if let count = request.tokenCount { data["tokenCount"] = .int(Int64(count)) }
            return data
        case .scheduleDue(let due):
            var data: JSONObject = [
                "id": .string(due.id), "name": .string(due.name ?? due.id), "dueAt": .string(due.dueAt.iso8601),
                "missed": .int(Int64(due.missed)),
            ]
            if let owner = due.owner { data["owner"] = .string(owner) }
            return data
        case .incident: return [:]
        }
    }

    private static func members(of device: Device, _ includesTokens: Bool) -> JSONObject {
        let isShort = device.token.count <= shownCharacters
        let masked =
            isShort ? String(repeating: "*", count: device.token.count) : device.token.prefix(shownCharacters) + "…"
        var data: JSONObject = [
            "userId": .string(device.userID.text), "deviceId": .string(device.id.text),
            "platform": .string(device.platform.rawValue),
            "token": .string(includesTokens ? device.token : masked),
        ]
        if let environment = device.environment { data["environment"] = .string(environment.rawValue) }
        if !device.appID.isEmpty { data["appId"] = .string(device.appID) }
        if let name = device.name { data["name"] = .string(name) }
        return data
    }
}
