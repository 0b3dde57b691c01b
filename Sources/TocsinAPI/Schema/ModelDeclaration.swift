package import TocsinCore

/// A `@model` type as `schema/model.graphql` declares it, checked.
package struct ModelDeclaration: Sendable {
    /// A field as clients see it; relations included.
    package struct Field: Sendable {
        /// The field's name.
        package var name: String
        /// `String!`, `[ID!]`….
        package var typeText: String
        /// The type's name without list and non-null marks.
        package var namedType: String
        /// Whether the type is a list.
        package var isList: Bool
        /// Whether the type is non-null.
        package var isRequired: Bool
        /// The text above it in the file; nil: none.
        package var description: String?
        /// Set for fields that lead to other models.
        package var relation: Relation?
        /// Whether the named type is an enum.
        package var isEnum: Bool
        /// Whether its values are objects of a type without `@model`.
        package var isEmbedded = false
        /// What `@default` stores.
        package var defaultValue: FieldValue?
        /// How many members its list is taken to have in the cost of an operation: `@listSize`.
        package var assumedSize: Int?
        /// The field's own `@auth`, in place of the model's.
        package var rules: [AccessRule]?
        /// Where it stands in the file, from 1.
        package var line: Int
    }

    /// A field that has a type, as SDL, with what the cost rule reads of it.
    static func typeText(_ text: String, of field: Field) -> String {
        text + (field.assumedSize.map { " @listSize(assumedSize: \($0))" } ?? "")
    }

    /// `@hasOne`, `@hasMany` or `@belongsTo` as written.
    package struct Relation: Sendable {
        /// Which directive it is.
        package enum Kind: String, Sendable { case hasOne, hasMany, belongsTo }

        /// The directive that was written.
        package var kind: Kind
        /// `fields`, or `references` of `@belongsTo`.
        package var fields: [String]
        /// `references` of `@hasMany`: fields of the target.
        package var references: [String]
        /// `indexName` of `@hasMany`; nil: the index is found or made.
        package var indexName: String?
        /// Where it stands in the file, from 1.
        package var line: Int
    }

    /// The type's name.
    package var name: String
    /// The plural of list and sync operations.
    package var plural: String
    /// The text above it in the file; nil: none.
    package var description: String?
    /// All fields as declared, relations included.
    package var fields: [Field]
    /// Its `@index` directives, and indexes that relations need.
    package var indexes: [ModelIndex]
    /// Its `@auth` rules, never empty.
    package var rules: [AccessRule]
    /// The names of its root fields.
    package var operations: OperationNames
    /// `id`, or the fields of `@primaryKey`.
    package var keyFields = ["id"]
    /// The words of `@typeNames` for types of messages; nil: those that ship.
    package var typeNames: [String]?
    /// What the relations come to, once all models are known.
    package var relations: [ModelRelation] = []
    /// Where it stands in the file, from 1.
    package var line: Int
    /// Whether it is the server's own, and not of the team's file.
    package var isShipped = false

    /// The fields that hold values: all but relations.
    package var valueFields: [Field] { fields.filter { $0.relation == nil } }

    /// The fields that filters and conditions compare: objects inside records have no operators.
    var comparedFields: [Field] { valueFields.filter { !$0.isEmbedded } }

    /// Whether records are named by `id` alone.
    package var hasSimpleKey: Bool { keyFields == ["id"] }

    /// Whether the file declares a field of this name.
    package func declares(_ fieldName: String) -> Bool { fields.contains { $0.name == fieldName } }

    /// The declared field of this name; nil: there is none.
    package func field(_ name: String) -> Field? { fields.first { $0.name == name } }

    /// Owner fields that the rules name and the model does not declare: the
    /// server alone writes them.
    package var implicitOwners: [String] {
        var names: [String] = []
        for rule in rules {
            guard let owner = rule.owner, !declares(owner.field), !names.contains(owner.field) else { continue }
            names.append(owner.field)
        }
        return names
    }
}
