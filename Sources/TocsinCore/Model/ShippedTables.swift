/// Tables with columns of their own, and the GraphQL fields that live in them.
///
/// Fields that a model declares beyond these live in the row's `extra` column; models without a
/// table of their own live in `records`.
package enum ShippedTables {
    /// The table and field-to-column map of a model.
    ///
    /// Of names that a team may give to a model of its own too, only the model that ships has one.
    package static func layout(
        of modelName: String,
        isShipped: Bool = false
    ) -> (table: ModelTable, columns: [String: String]) {
        switch modelName {
        case "Incident" where isShipped: (ModelTable(name: "incidents"), common.merging(incident) { $1 })
        case "Topic": (ModelTable(name: "topics"), common.merging(topic) { $1 })
        case "Message": (ModelTable(name: "messages"), common.merging(message) { $1 })
        default: (ModelTable(name: "records", discriminator: modelName), common)
        }
    }

    private static let common = [
        "id": "id", "owner": "owner", "createdAt": "created_at", "updatedAt": "updated_at", "_version": "version",
        "_deleted": "deleted", "_lastChangedAt": "last_changed_at", ModelType.makingTime: "made_at",
        ModelType.revisionTime: "revised_at",
    ]

    private static let topic = ["name": "name", "arn": "arn"]

    private static let message = [
        "topicId": "topic_id", "number": "number", "type": "type", "title": "title", "body": "body", "key": "key",
        "priority": "priority", "url": "url", "data": "data", "category": "category", "expiresAt": "expires_at",
        "push": "push", ModelType.feedPosition: "position",
        ModelType.author: "author", "incidentId": "incident_id", "incidentChange": "incident_change",
    ]

    private static let incident = [
        "topicId": "topic_id", "number": "number", "state": "state", "key": "key", "integrationId": "integration_id",
        "openedAt": "opened_at",
    ]
}
