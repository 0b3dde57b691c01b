/// The values a client gave for a record's declared fields, by field name: absent, null and a value are three things.
package typealias RecordInput = [String: FieldValue]

/// Makes and changes records as AppSync does (appsync.md 2.4, 2.8).
package struct RecordFactory: Sendable {
    package let model: ModelType

    package init(model: ModelType) {
        self.model = model
    }

    /// A new record: defaults, overlaid with the input, owned by the caller, version 1.
    package func make(_ input: RecordInput, id: String, owner: String, at moment: Timestamp) -> Record {
        var record = Record(model: model)
        let text = moment.iso8601
        record["createdAt"] = .text(text)
        record["updatedAt"] = .text(text)
        for field in model.fields where field.role == .declared {
            guard let value = input[field.name], !value.isNull else { continue }
            record[field.name] = value
        }
        record["id"] = .text(id)
        record["owner"] = .text(owner)
        record["_version"] = .int(1)
        record["_lastChangedAt"] = .int(moment.milliseconds)
        return record
    }

    /// The record with the given fields set (null removes), the next version and the time of change.
    package func changed(_ record: Record, by input: RecordInput, at moment: Timestamp) -> Record {
        var record = record
        for field in model.fields where field.role == .declared && field.name != "id" {
            guard let value = input[field.name] else { continue }
            record[field.name] = value
        }
        record["updatedAt"] = .text(moment.iso8601)
        return stepped(record, at: moment)
    }

    /// The tombstone of a record: all its fields, marked deleted.
    package func tombstone(of record: Record, at moment: Timestamp) -> Record {
        var record = record
        record["_deleted"] = .bool(true)
        return stepped(record, at: moment)
    }

    /// Whether a repeated create carries the same content as the stored record: every declared field that the input
    /// gives, or leaves out, is what is stored.
    ///
    /// Timestamps made by the server do not count.
    package func isRepeat(_ input: RecordInput, of stored: Record, defaults: RecordInput = [:]) -> Bool {
        model.fields.allSatisfy { field in
            guard field.role == .declared, field.name != "id" else { return true }
            if let given = input[field.name], !given.isNull { return given == stored[field.name] }
            if field.name == "createdAt" || field.name == "arn" { return true }
            return stored[field.name] == (defaults[field.name] ?? .null)
        }
    }

    private func stepped(_ record: Record, at moment: Timestamp) -> Record {
        var record = record
        record["_version"] = .int(record.version + 1)
        record["_lastChangedAt"] = .int(max(moment.milliseconds, record["_lastChangedAt"].int ?? 0))
        return record
    }
}
