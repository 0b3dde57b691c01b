import TocsinCore

/// Turns every event into one message of its integration's topic.
struct MessageIntake: EventIntake {
    let messages: MessageService

    func take(
        _ events: [SenderEvent],
        from integration: Integration
    ) async throws(ServiceError) -> [EventOutcome] {
        let owner = integration.owner
        let caller = Identity(userID: OwnerText.userID(of: owner), username: OwnerText.shown(owner))
        var outcomes: [EventOutcome] = []
        for event in events {
            var outcome = EventOutcome(key: event.key)
            guard ![.ping, .ignore].contains(event.action) else {
                outcomes.append(outcome)
                continue
            }
            var input: RecordInput = [
                "topicId": .text(integration.topicID.text), "title": .text(event.title),
                "body": .text(event.body), "priority": .int(Int64(event.priority ?? 3)),
            ]
            if let key = event.messageKey { input["key"] = .text(key) }
            let message = try await messages.create(input, caller: caller)
            (outcome.messageID, outcome.messageNumber) = (message.id, message.number)
            outcomes.append(outcome)
        }
        return outcomes
    }
}
