/// An owner's topics have names of their own.
///
/// Who makes or renames a topic holds up others of the same owner until it is committed, so that
/// two nodes cannot give one name twice. Topics that have had one name for longer keep it.
struct TopicNames {
    private let model: ModelType
    private let owner: Int
    private let name: Int

    /// nil where any name may be given, or topics have no names or owners that could be compared.
    init?(_ model: ModelType, _ settings: ModelSettings) {
        guard settings.topicNamesAreUnique, let owner = model.position(of: "owner"),
            let name = model.position(of: "name")
        else { return nil }
        (self.model, self.owner, self.name) = (model, owner, name)
    }

    /// The refusal of a name that another topic of the same owner has; nil where it is free.
    ///
    /// `stored` is the topic as it was, whose name it may keep.
    func refusal(
        of topic: Record,
        was stored: Record? = nil,
        caller: Identity,
        _ writer: any StoreWriter
    ) throws(StoreError) -> ServiceError? {
        guard let text = topic.values[name].text, let owner = topic.owner else { return nil }
        if let stored, stored.values[name] == topic.values[name], stored.owner == owner { return nil }
        try writer.holdTopics(of: owner)
        // A caller's older rows have other forms of the same owner.
        let isOwn = caller.ownerForms.contains(owner)
        for form in isOwn ? caller.ownerForms : [owner] {
            guard let other = try holder(of: text, form, otherThan: topic.id, writer) else { continue }
            guard try isSeen(other, by: caller, isOwn: isOwn, writer) else { continue }
            return .nameTaken(text, other.shown(to: caller))
        }
        return nil
    }

    /// Whether the caller may know of a topic of somebody who lets them rename another one.
    ///
    /// Where they may not, the name is given twice: a refusal would tell what topics there are.
    private func isSeen(
        _ topic: Record,
        by caller: Identity,
        isOwn: Bool,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Bool {
        if isOwn { return true }
        guard case .allow(let visible) = AccessPolicy.decision(.get, on: model, for: caller) else { return false }
        return visible.matches(topic, try writer.unlocked.roles(askedBy: visible, of: topic))
    }

    private func holder(
        of text: String,
        _ form: String,
        otherThan id: String,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Record? {
        var conditions: [Predicate] = [
            .field(owner, .equal(.text(form))), .field(name, .equal(.text(text))),
        ]
        if let deleted = model.knownPositions.deleted { conditions.append(.field(deleted, .notEqual(.bool(true)))) }
        guard let key = model.keyPosition else { return nil }
        // The topic itself, and the one of direct pushes, do not count.
        let query = ModelQuery(
            model: model,
            predicate: .all(conditions),
            order: [ModelQuery.Order(field: key)],
            limit: 3
        )
        return try writer.unlocked.records(query).first { $0.id != id && !DirectPushService.isTopic($0.id) }
    }
}

/// A name that several topics of one owner have, since before names were their own.
package struct DoubledTopicName: Sendable, Hashable {
    /// The owner as it stands in the topics' rows.
    package var owner: String
    /// The name.
    package var name: String
    /// How many topics have it.
    package var count: Int

    /// A name and how often it is there.
    package init(owner: String, name: String, count: Int) {
        self.owner = owner
        self.name = name
        self.count = count
    }
}
