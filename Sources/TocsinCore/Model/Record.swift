/// One row of a model: values in the order of `model.fields`.
package struct Record: Sendable, Hashable {
    package let model: ModelType
    package var values: [FieldValue]

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
    package var owner: String? { text(at: model.places.owner) }
    package var version: Int64 { model.places.version.flatMap { values[$0].int } ?? 0 }
    package var isDeleted: Bool { model.places.deleted.map { values[$0] == .bool(true) } ?? false }
    /// Milliseconds since 1970.
    package var lastChangedAt: Int64 { model.places.changed.flatMap { values[$0].int } ?? 0 }
    /// The number in its topic, of messages only.
    package var number: MessageNumber? { model.numberPosition.flatMap { values[$0].int } }
    /// The topic of a message, and when the server made it.
    package var making: (topic: String, at: Timestamp)? {
        guard let topic = model.places.topic.flatMap({ values[$0].text }),
            let moment = model.places.making.flatMap({ values[$0].int })
        else { return nil }
        return (topic, Timestamp(milliseconds: moment))
    }
    /// The place among all of its owner's messages, of messages only.
    package var feedPosition: FeedPosition? { model.places.feedPosition.flatMap { values[$0].int } }

    /// About what it takes in memory.
    package var approximateBytes: Int { values.reduce(64) { $0 + 24 + $1.textBytes } }

    private func text(at position: Int?) -> String? { position.flatMap { values[$0].text } }

    package static func == (left: Self, right: Self) -> Bool {
        left.model === right.model && left.values == right.values
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(model))
        hasher.combine(values)
    }
}
