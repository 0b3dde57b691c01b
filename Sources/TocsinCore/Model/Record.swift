/// One row of a model: values in the order of `model.fields`.
package struct Record: Sendable, Hashable {
    /// The model that gives the values their positions.
    package let model: ModelType
    /// One value for each field of the model; null where there is none.
    package var values: [FieldValue]

    /// A record of as many values as the model has fields.
    package init(model: ModelType, values: [FieldValue]) {
        self.model = model
        self.values = values
    }

    /// A record with every value null.
    package init(model: ModelType) {
        // Each for itself: to repeat one is to copy it.
        self.init(model: model, values: (0..<model.fields.count).map { _ in .null })
    }

    /// The value of a field; null for a name the model does not have.
    ///
    /// Setting an unknown name does nothing.
    package subscript(_ fieldName: String) -> FieldValue {
        get { model.position(of: fieldName).map { values[$0] } ?? .null }
        set {
            guard let position = model.position(of: fieldName) else { return }
            values[position] = newValue
        }
    }

    /// The text that names the row: `id`, or the joined values of a `@primaryKey`.
    package var id: String { text(at: model.keyPosition) ?? "" }
    /// The stored owner text; nil where the model has no owner or the row none.
    package var owner: String? { text(at: model.knownPositions.owner) }
    /// `_version`: 1 when made, one more with each change; 0 where the model has none.
    package var version: Int64 { model.knownPositions.version.flatMap { values[$0].int } ?? 0 }
    /// Whether it is a tombstone: `_deleted`.
    package var isDeleted: Bool { model.knownPositions.deleted.map { values[$0] == .bool(true) } ?? false }
    /// Milliseconds since 1970.
    package var lastChangedAt: Int64 { model.knownPositions.changed.flatMap { values[$0].int } ?? 0 }
    /// The number in its topic, of messages only.
    package var number: MessageNumber? { model.numberPosition.flatMap { values[$0].int } }
    /// The topic of a message, and when the server made it.
    package var making: (topic: String, at: Timestamp)? {
        guard let topic = model.knownPositions.topic.flatMap({ values[$0].text }),
            let moment = model.knownPositions.making.flatMap({ values[$0].int })
        else { return nil }
        return (topic, Timestamp(milliseconds: moment))
    }
    /// Who published the message in a topic of somebody else's.
    package var author: UserID? { text(at: model.knownPositions.author).map { UserID($0) } }
    /// The position among all of its owner's messages, of messages only.
    package var feedPosition: FeedPosition? { model.knownPositions.feedPosition.flatMap { values[$0].int } }

    /// About what it takes in memory.
    package var approximateBytes: Int { values.reduce(64) { $0 + 24 + $1.textBytes } }

    private func text(at position: Int?) -> String? { position.flatMap { values[$0].text } }

    /// Whether both are of the same model and have the same values.
    package static func == (left: Self, right: Self) -> Bool {
        left.model === right.model && left.values == right.values
    }

    /// Hashes what `==` compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(model))
        hasher.combine(values)
    }
}
