import TocsinCore

extension SQLWriter {
    func hold(
        _ topics: [TopicID],
        of model: ModelType,
        feedsOf owners: [String]
    ) throws(StoreError) -> HeldTopics {
        if session.dialect.hasManyWriters {
            try raiseFeeds(Dictionary(uniqueKeysWithValues: owners.map { ($0, 0) })) { _, _ in }
            try lockTopics(topics.map(\.text))
        }
        let statements = try session.statements(for: model)
        let ids = BoundList(topics.map(\.text))
        let look = (statements.topics + " (\(ids.placeholders))", ids.bindings)
        var members = FewMembers(of: Set(topics), limit: HeldTopic.fewMembers)
        var held = HeldTopics()
        try connection.runTogether([look] + members.questions(session.dialect)) { statement, row in
            if statement > 0 { return members.add(FewMembers.Row(row)) }
            held.topics[TopicID(row.text(0))] = HeldTopic(record: statements.record(row, from: 1))
            guard let making = row.optionalMoment(statements.model.fields.count + 1) else { return }
            held.latestMaking = max(held.latestMaking ?? making, making)
        }
        for (id, users) in members.withoutDevice { held.topics[id]?.membersWithoutDevice = users }
        return held
    }
}
