import GraphQL
import TocsinCore

// Readers of one shared topic, who may get the same bytes.
extension TocsinGraphQL {
    /// Whether what is selected of a shared topic's messages is the same for all who may read them,
    /// whoever they are and by whatever grant.
    ///
    /// Those who name the topic are one group then.
    func looksAlikeToReaders(_ selection: SelectedFields, _ interest: LiveInterest) -> Bool {
        let messages = interest.model
        guard messages === schema.messages, let sharing = messages.sharing else { return false }
        if let topic = interest.topicID {
            guard interest.predicate == .field(sharing.field, .equal(.text(topic.text))),
                interest.filter == .always || messages.fieldRules.isEmpty
            else { return false }
        }
        return selection.fields.allSatisfy { field in
            if Self.alike.contains(field.name) || isPlain(field.name, of: messages) { return true }
            guard let relation = messages.relations.first(where: { $0.fieldName == field.name }), relation.rules == nil,
                relation.target == schema.topics.name, case .one(["topicId"]) = relation.kind
            else { return false }
            return field.selection.names.allSatisfy { $0 == "__typename" || isPlain($0, of: schema.topics) }
        }
    }

    /// Fields of a message that are no stored values and show every reader the same.
    private static let alike: Set<String> = ["__typename", "cursor", "author"]

    /// Whether it is a stored field without rules of its own.
    private func isPlain(_ name: String, of model: ModelType) -> Bool {
        model.position(of: name).map { model.fieldRules[$0] == nil } ?? false
    }
}
