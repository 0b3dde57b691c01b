// Plain messages.
extension IncidentTurn {
    /// The message of an event without an incident: at once, or when it is due.
    func log(_ event: SenderEvent, _ source: Source) throws(StoreError) -> EventOutcome {
        var outcome = EventOutcome(key: event.key)
        if let due = event.dueAt, due > now, let id = try schedule(event, at: due, source) {
            outcome.scheduledID = id
            return outcome
        }
        if let key = event.messageKey {
            let key = MessageKey(topicID: TopicID(topic.id), key: key)
            if let known = madeByKey[key] {
                (outcome.messageID, outcome.messageNumber) = (known.id.text, known.number)
                return outcome
            }
            if let stored = try writer.messages(book.rights.messages, keys: [key]).first {
                (outcome.messageID, outcome.messageNumber) = (stored.id, stored.number)
                return outcome
            }
        }
        if event.isWithdrawal, try !takesAway(event) { return outcome }
        let message = add(input(of: event, source), isPushed: event.isPushed)
        if let key = event.messageKey { madeByKey[MessageKey(topicID: TopicID(topic.id), key: key)] = message }
        (outcome.messageID, outcome.messageNumber) = (message.id.text, message.number)
        return outcome
    }

    /// Keeps a message until it is due; answers the id of what is kept, nil where nothing can be.
    ///
    /// A repeat by the same key is the same, as long as the first one waits or has come. The id
    /// follows from what nobody else knows; a row of others under it is none of this sender's.
    private func schedule(
        _ event: SenderEvent,
        at due: Timestamp,
        _ source: Source
    ) throws(StoreError) -> String? {
        var id = event.messageKey.map { DerivedUUID.text(of: "delayed message", "\(source.id) \($0)") }
        if let known = id, let stored = try writer.scheduledMessage(known) {
            let isOurs = stored.owner.userID == author.userID && stored.plan.topicID?.text == topic.id
            let isGood = stored.lastMessageID != nil || stored.isEnabled && stored.nextAt != nil
            if isOurs, isGood { return known }
            id = nil
        }
        var wish = ScheduledMessage.PushWord()
        (wish.collapseKey, wish.isPushed, wish.calls) = (event.collapseKey, event.isPushed, calls(of: event))
        return try book.schedule(
            json(of: event, source),
            wish,
            id: id,
            at: due,
            in: TopicID(topic.id),
            by: author,
            writer
        )
    }

    /// Whether a withdrawal takes anything off the screen; what waits to come under its key does so
    /// no more.
    private func takesAway(_ event: SenderEvent) throws(StoreError) -> Bool {
        guard let key = event.collapseKey else { return false }
        let waiting = try writer.delayedMessages(of: author.userID, in: TopicID(topic.id), collapsedBy: key)
        for id in waiting {
            try writer.removeScheduledMessage(id)
            try writer.removeTimer(.message, of: id)
        }
        guard let place = withdrawn[key] else { return false }
        // What waited at the look-up and waits no more may have come since.
        return place.isShown || !place.waiting.isSubset(of: waiting)
    }

    private func input(of event: SenderEvent, _ source: Source) -> RecordInput {
        var input: RecordInput = [
            "topicId": .text(topic.id), "type": .int(0), "title": .text(title(event, source)),
            "body": .text(event.body), "priority": .int(Int64(event.priority ?? source.defaultPriority)),
        ]
        if let key = event.messageKey { input["key"] = .text(key) }
        if let url = event.url { input["url"] = .text(url) }
        if let category = event.category { input["category"] = .text(category) }
        if let data = data(of: event) { input["data"] = .text(data) }
        var push = push(of: event)
        // What clients cannot say themselves: the key that they give dedupes too.
        if let collapse = event.collapseKey { push.append(("collapseKey", JSONMapText.text(collapse))) }
        if let calls = calls(of: event) { push.append((ButtonCall.member, calls)) }
        if !push.isEmpty { input["push"] = .json(JSONMapText.object(push)) }
        return input
    }

    private func data(of event: SenderEvent) -> String? {
        // A message has no labels of its own; apps get them as data.
        var data = event.data.merging(event.labels) { data, _ in data }
        if !event.links.isEmpty {
            data["links"] = JSONMapText.list(
                event.links.prefix(10).map { JSONMapText.object(["text": $0.text, "url": $0.url]) }
            )
        }
        return data.isEmpty ? nil : JSONMapText.object(data)
    }

    private func push(of event: SenderEvent) -> [(String, String)] {
        var push: [(String, String)] = []
        if let image = event.image { push.append(("image", JSONMapText.text(image))) }
        if !event.buttons.isEmpty {
            let buttons = event.buttons.prefix(3).map { button in
                var members = ["id": button.id, "title": button.title]
                members["url"] = button.url
                return JSONMapText.object(members)
            }
            push.append(("actions", JSONMapText.list(buttons)))
        }
        return push
    }

    /// The sealed calls of an event's buttons by their ids; nil: there are none.
    private func calls(of event: SenderEvent) -> String? {
        let calls = event.buttons.prefix(3).compactMap { button in button.sealedCall.map { (button.id, $0) } }
        return calls.isEmpty ? nil : JSONMapText.object(Dictionary(calls) { first, _ in first })
    }

    /// The message as people would write it, for one that comes later.
    private func json(of event: SenderEvent, _ source: Source) -> String {
        var members: [(String, String)] = [
            ("type", "0"), ("title", JSONMapText.text(title(event, source))), ("body", JSONMapText.text(event.body)),
            ("priority", String(event.priority ?? source.defaultPriority)),
        ]
        if let url = event.url { members.append(("url", JSONMapText.text(url))) }
        if let category = event.category { members.append(("category", JSONMapText.text(category))) }
        if let data = data(of: event) { members.append(("data", JSONMapText.text(data))) }
        let push = push(of: event)
        if !push.isEmpty { members.append(("push", JSONMapText.object(push))) }
        return JSONMapText.object(members)
    }
}
