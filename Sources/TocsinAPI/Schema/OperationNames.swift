/// The names of a model's root fields, as `@model`'s arguments have them; nil for
/// those that are switched off.
package struct OperationNames: Sendable {
    /// The query for one record, `getTopic`.
    package var get: String?
    /// The query for a page, `listTopics`.
    package var list: String?
    /// The query for changes, `syncTopics`.
    package var sync: String?
    /// The mutation that makes a record.
    package var create: String?
    /// The mutation that changes a record.
    package var update: String?
    /// The mutation that makes a record a tombstone.
    package var delete: String?
    /// A change may have several subscriptions.
    package var onCreate: [String]
    /// The subscriptions to changed records.
    package var onUpdate: [String]
    /// The subscriptions to deleted records.
    package var onDelete: [String]
    /// The fields with the times of making and of the last change.
    package var createdAt: String? = "createdAt"
    /// The field with the time of the last change; nil: the schema shows none.
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
