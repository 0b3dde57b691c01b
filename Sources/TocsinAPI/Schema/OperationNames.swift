/// The names of a model's root fields, as `@model`'s arguments have them; nil for those that are switched off.
package struct OperationNames: Sendable {
    package var get: String?
    package var list: String?
    package var sync: String?
    package var create: String?
    package var update: String?
    package var delete: String?
    /// A change may have several subscriptions.
    package var onCreate: [String]
    package var onUpdate: [String]
    package var onDelete: [String]
    /// The fields with the times of making and of the last change.
    package var createdAt: String? = "createdAt"
    package var updatedAt: String? = "updatedAt"

    /// Amplify's default names: `createNote` for a type `note` too.
    init(model: String, plural: String) {
        let (model, plural) = (model.capitalizedFirst, plural.capitalizedFirst)
        get = "get\(model)"
        list = "list\(plural)"
        sync = "sync\(plural)"
        create = "create\(model)"
        update = "update\(model)"
        delete = "delete\(model)"
        onCreate = ["onCreate\(model)"]
        onUpdate = ["onUpdate\(model)"]
        onDelete = ["onDelete\(model)"]
    }

    /// The timestamps that the schema shows.
    var timestamps: [String] { [createdAt, updatedAt].compactMap(\.self) }

    /// Every root field, to find names that are given twice.
    var all: [String] {
        [get, list, sync, create, update, delete].compactMap(\.self) + onCreate + onUpdate + onDelete
    }
}
