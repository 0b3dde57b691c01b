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
        self.init(model: model, values: Array(repeating: .null, count: model.fields.count))
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

    package var id: String { self["id"].text ?? "" }
    package var owner: String? { self["owner"].text }
    package var version: Int64 { self["_version"].int ?? 0 }
    package var isDeleted: Bool { self["_deleted"] == .bool(true) }

    package static func == (left: Self, right: Self) -> Bool {
        left.model === right.model && left.values == right.values
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(model))
        hasher.combine(values)
    }
}
