/// A `@model` type of `schema/model.graphql`: its fields, where they are stored, its indexes, relations and rules.
///
/// A class, so that records share one by reference.
package final class ModelType: Sendable {
    package let name: String
    /// `Topics` for `Topic`: the plural of list and sync operations.
    package let plural: String
    package let table: ModelTable
    /// Declared fields, then generated ones (`createdAt`, `updatedAt`, `_version`, `_deleted`, `_lastChangedAt`,
    /// `owner`), then ours (`number`, `priority`…).
    ///
    /// A record's values stand in this order.
    package let fields: [ModelField]
    package let indexes: [ModelIndex]
    package let relations: [ModelRelation]
    package let rules: [AccessRule]
    private let positions: [String: Int]

    package init(
        name: String,
        plural: String,
        table: ModelTable,
        fields: [ModelField],
        indexes: [ModelIndex],
        relations: [ModelRelation],
        rules: [AccessRule]
    ) {
        self.name = name
        self.plural = plural
        self.table = table
        self.fields = fields
        self.indexes = indexes
        self.relations = relations
        self.rules = rules
        positions = Dictionary(fields.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Position of a field in `fields` and in a record's values.
    package func position(of fieldName: String) -> Int? { positions[fieldName] }
}

/// Where records of a model live.
package struct ModelTable: Sendable, Hashable {
    package var name: String
    /// Set for tables that hold several models (`records`): the value of the `model` column.
    package var discriminator: String?

    package init(name: String, discriminator: String? = nil) {
        self.name = name
        self.discriminator = discriminator
    }
}

/// One field of a model.
package struct ModelField: Sendable, Hashable {
    /// The GraphQL name, `createdAt`.
    package var name: String
    /// The GraphQL named type: `ID`, `String`, `Int`, `Float`, `Boolean`, `AWS…`, or an enum or nested type.
    package var typeName: String
    package var kind: Kind
    package var isList: Bool
    package var isRequired: Bool
    package var storage: Storage
    package var role: Role

    /// How a value is kept and compared.
    package enum Kind: Sendable, Hashable { case text, int, double, bool, json }

    package enum Storage: Sendable, Hashable {
        case column(String)
        /// A member of this name in the row's JSON column `extra`.
        case extra(String)
    }

    /// Who writes it.
    package enum Role: Sendable, Hashable {
        /// The client, by create and update inputs.
        case declared
        /// The server (owner, versions, timestamps, number).
        case generated
    }

    package init(
        name: String,
        typeName: String,
        kind: Kind,
        isList: Bool = false,
        isRequired: Bool,
        storage: Storage,
        role: Role = .declared
    ) {
        self.name = name
        self.typeName = typeName
        self.kind = kind
        self.isList = isList
        self.isRequired = isRequired
        self.storage = storage
        self.role = role
    }
}

/// An `@index`: a query by key, and an index of the database.
package struct ModelIndex: Sendable, Hashable {
    package var name: String
    package var partitionField: String
    package var sortFields: [String]
    package var queryField: String?

    package init(name: String, partitionField: String, sortFields: [String], queryField: String?) {
        self.name = name
        self.partitionField = partitionField
        self.sortFields = sortFields
        self.queryField = queryField
    }
}

/// A field that leads to another model: `@hasOne(fields: ["topicId"])`.
package struct ModelRelation: Sendable, Hashable {
    package var fieldName: String
    package var target: String
    /// The field of this model that holds the target's id.
    package var keyField: String

    package init(fieldName: String, target: String, keyField: String) {
        self.fieldName = fieldName
        self.target = target
        self.keyField = keyField
    }
}
