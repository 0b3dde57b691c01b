package import TocsinCore

/// A `@model` type as `schema/model.graphql` declares it, checked.
package struct ModelDeclaration: Sendable {
    /// A field as clients see it; relations included.
    package struct Field: Sendable {
        package var name: String
        /// `String!`, `[ID!]`….
        package var typeText: String
        package var namedType: String
        package var isList: Bool
        package var isRequired: Bool
        package var description: String?
        /// Set for fields that lead to other models.
        package var relation: Relation?
        package var isEnum: Bool
        /// Whether its values are objects of a type without `@model`.
        package var isEmbedded = false
        /// What `@default` stores.
        package var defaultValue: FieldValue?
        /// The field's own `@auth`, in place of the model's.
        package var rules: [AccessRule]?
        package var line: Int
    }

    /// `@hasOne`, `@hasMany` or `@belongsTo` as written.
    package struct Relation: Sendable {
        package enum Kind: String, Sendable { case hasOne, hasMany, belongsTo }

        package var kind: Kind
        /// `fields`, or `references` of `@belongsTo`.
        package var fields: [String]
        /// `references` of `@hasMany`: fields of the target.
        package var references: [String]
        package var indexName: String?
        package var line: Int
    }

    package var name: String
    /// Of list and sync operations.
    package var plural: String
    package var description: String?
    package var fields: [Field]
    package var indexes: [ModelIndex]
    package var rules: [AccessRule]
    package var operations: OperationNames
    /// `id`, or the fields of `@primaryKey`.
    package var keyFields = ["id"]
    /// What the relations come to, once all models are known.
    package var relations: [ModelRelation] = []
    package var line: Int

    /// The fields that hold values: all but relations.
    package var valueFields: [Field] { fields.filter { $0.relation == nil } }

    /// The fields that filters and conditions compare: objects inside records have no operators.
    var comparedFields: [Field] { valueFields.filter { !$0.isEmbedded } }

    /// Whether records are named by `id` alone.
    package var hasSimpleKey: Bool { keyFields == ["id"] }

    package func declares(_ fieldName: String) -> Bool { fields.contains { $0.name == fieldName } }

    package func field(_ name: String) -> Field? { fields.first { $0.name == name } }

    /// Owner fields that the rules name and the model does not declare: the server alone writes them.
    package var implicitOwners: [String] {
        var names: [String] = []
        for rule in rules {
            guard let owner = rule.owner, !declares(owner.field), !names.contains(owner.field) else { continue }
            names.append(owner.field)
        }
        return names
    }
}
