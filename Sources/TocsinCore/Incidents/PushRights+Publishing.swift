extension PushRights {
    /// The topic with this id, where the caller may publish to it: it is theirs, or a grant lets
    /// them.
    package func publishableTopic(
        _ id: String,
        for caller: Identity,
        _ reader: any StoreReader
    ) throws(StoreError) -> Record? {
        guard case .allow(let publishable) = AccessPolicy.decision(.read, on: topics, for: caller),
            case .allow(let creatable) = AccessPolicy.decision(.create, on: messages, for: caller),
            let topic = try reader.records(topics, ids: [id], where: .always).first, !topic.isDeleted
        else { return nil }
        if publishable.withoutGrants.matches(topic) { return topic }
        let subjects = creatable.grantQuestions.first?.subjects ?? []
        let roles = try reader.roles(of: subjects, in: [TopicID(id)])
        return roles.roles(of: subjects, in: TopicID(id)).isDisjoint(with: .publishing) ? nil : topic
    }
}
