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

    /// The person that a stored owner is, as they are while they are away; nil for nobody.
    package func person(
        ofOwner text: String,
        at now: Timestamp,
        _ reader: any StoreReader
    ) throws(StoreError) -> Identity? {
        let user = Identity(ownerText: text).userID
        let id = user.text.isEmpty ? UserID(text) : user
        let standing = try reader.standings(of: [id], tokensAt: nil)[id]
        guard case .person(let person) = receiver(id, standing, now: now) else { return nil }
        return person
    }
}

extension PushRights {
    /// Who may look after a record that goes to another topic: that topic's owner in the place of
    /// the former one's, who is to see nothing of what comes in there.
    ///
    /// Nil where its owner has named others: these stay.
    package func editors(
        of record: Record,
        was stored: Record,
        movedTo topic: Record,
        _ reader: any StoreReader
    ) throws(StoreError) -> FieldValue? {
        let left = try reader.records(topics, ids: [stored["topicId"].text ?? ""], where: .always).first
        guard let former = left?.owner, let owner = topic.owner ?? record.owner, record["editors"] == stored["editors"],
            record["editors"] == JSONListText.list(of: former)
        else { return nil }
        return JSONListText.list(of: owner)
    }
}
