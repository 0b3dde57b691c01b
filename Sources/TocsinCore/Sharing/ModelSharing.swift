/// What grants give of the records of one model: of topics, their messages and incidents.
package struct ModelSharing: Sendable, Hashable {
    /// Position of the field that holds the topic's id.
    package let field: Int
    let isTopic: Bool

    /// The sharing of a model; nil for models that are not shared, and where no rule speaks of
    /// owners.
    init?(of name: String, _ table: ModelTable, _ rules: [AccessRule], at position: (String) -> Int?) {
        guard table.discriminator == nil, rules.contains(where: { $0.owner != nil }) else { return nil }
        switch name {
        case "Topic": isTopic = true
        case "Message", "Incident": isTopic = false
        default: return nil
        }
        guard let field = position(isTopic ? "id" : "topicId") else { return nil }
        self.field = field
    }

    /// The roles of which one is enough for an operation; nil for what grants never give.
    ///
    /// Whoever publishes to a topic may look it up and sees its name, but `read`, by which topics
    /// are joined and messages followed, takes a reader.
    func need(for operation: AccessRule.Operation) -> TopicRole? {
        switch operation {
        case .read, .listen: .reading
        case .get, .list, .sync: isTopic ? .all : .reading
        case .create: isTopic ? nil : .publishing
        case .update: .owner
        case .delete: isTopic ? nil : .owner
        }
    }
}
