import TocsinCore

// Where routes may lead, and which topics of Amazon's may subscribe.
extension IntegrationHook {
    private static let maximumSNSTopics = 20

    /// What is wrong with the values of routes and of `snsTopics`; nil: nothing.
    func problem(ofRoutes value: (String) -> FieldValue) -> String? {
        do throws(RouteProblem) {
            _ = try IntegrationRoute.list(value("routes"))
        } catch {
            return error.text
        }
        let topics = IntegrationRecord.texts(value("snsTopics"))
        guard !topics.isEmpty else { return nil }
        guard value("receiver").text == SNSSubscription.receiver else {
            return "snsTopics is for the receiver \(SNSSubscription.receiver)."
        }
        guard topics.count <= Self.maximumSNSTopics else {
            return "snsTopics has \(topics.count) topics; at most \(Self.maximumSNSTopics) are allowed."
        }
        guard let wrong = topics.first(where: { SNSTopic($0) == nil }) else { return nil }
        return "snsTopics has \(wrong.prefix(300).debugDescription), which is no ARN of a topic. Write "
            + "arn:aws:sns:eu-central-1:123456789012:alarms."
    }

    /// Checks the topics of routes that were not there before: who writes and whose the integration
    /// is must both be able to publish to each.
    ///
    /// A topic that one of them may not see is answered as one that is not there.
    func refusal(
        ofRoutes value: FieldValue,
        was stored: FieldValue = .null,
        owner: String?,
        _ write: HookedWrite
    ) throws(StoreError) -> ServiceError? {
        guard value != stored else { return nil }
        let known = Set(((try? IntegrationRoute.list(stored)) ?? []).compactMap(\.topicID))
        for (index, route) in ((try? IntegrationRoute.list(value)) ?? []).enumerated() {
            guard let topic = route.topicID, !known.contains(topic) else { continue }
            if try mayPublish(to: topic.text, owner: owner, write) { continue }
            return .badInput(
                "routes[\(index)]: topicId names no topic that you and the integration's owner may publish to."
            )
        }
        return nil
    }

    private func mayPublish(to topic: String, owner: String?, _ write: HookedWrite) throws(StoreError) -> Bool {
        let reader = write.writer.unlocked
        guard try rights.publishableTopic(topic, for: write.caller, reader) != nil else { return false }
        guard let owner, !write.caller.ownerForms.contains(owner) else { return true }
        guard let person = try rights.person(ofOwner: owner, at: write.now, reader) else { return false }
        return try rights.publishableTopic(topic, for: person, reader) != nil
    }
}
