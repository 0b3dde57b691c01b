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
        package var relation: ModelRelation?
        package var isEnum: Bool
    }

    package var name: String
    package var description: String?
    package var fields: [Field]
    package var indexes: [ModelIndex]
    package var rules: [AccessRule]
    package var line: Int

    package var plural: String { Plural.of(name) }

    /// The fields that hold values: all but relations.
    package var valueFields: [Field] { fields.filter { $0.relation == nil } }

    package func declares(_ fieldName: String) -> Bool { fields.contains { $0.name == fieldName } }
}
