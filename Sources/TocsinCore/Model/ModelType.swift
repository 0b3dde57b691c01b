/// A `@model` type of `schema/model.graphql`: its fields, where they are stored, its
/// indexes, relations and rules.
///
/// A class, so that records share one by reference.
package final class ModelType: Sendable {
    /// The GraphQL type's name.
    package let name: String
    /// `Topics` for `Topic`: the plural of list and sync operations.
    package let plural: String
    /// Where its records are stored.
    package let table: ModelTable
    /// Declared fields, then generated ones (`createdAt`, `updatedAt`, `_version`, `_deleted`,
    /// `_lastChangedAt`, `owner`), then ours (`number`, `priority`…).
    ///
    /// A record's values stand in this order.
    package let fields: [ModelField]
    /// Its `@index` directives.
    package let indexes: [ModelIndex]
    /// Its `@hasOne`, `@belongsTo` and `@hasMany` fields.
    package let relations: [ModelRelation]
    /// What grants give of its records; nil where nothing of it is shared.
    package let sharing: ModelSharing?
    /// Its `@auth` rules; `ModelReader` refuses a model without any.
    package let rules: [AccessRule]
    /// Rules of single fields, by position, in place of the model's.
    package let fieldRules: [Int: [AccessRule]]
    /// The fields that name a record: `id`, or those of `@primaryKey`, the partition field first.
    package let keyFields: [String]
    /// The fields with the times of making and of the last change, as texts.
    package let timestamps: Timestamps
    /// The words for types of messages.
    package let typeNames: MessageTypeNames
    /// Position of the text that names a row: the field `id`, or the hidden one
    /// that joins the key fields.
    package let keyPosition: Int?
    /// Position of the number that the server gives a message in its topic.
    ///
    /// It is nil for other models: a field of that name is the client's there.
    package let numberPosition: Int?
    /// The claim whose first form the server writes into `owner`; nil where clients write that
    /// field, or rules disagree.
    ///
    /// Without it nothing says whose feed a record is in.
    package let feedClaim: String?
    private let positions: FieldPositions
    /// By position: how values from clients are kept; nil where the server alone writes.
    package let inputKinds: [ModelField.Kind?]
    /// By position: which limit its texts have.
    let textLimits: [TextLimit]
    /// By position: whether what an input gives is what a new record has, and not what the
    /// server writes in any case.
    let isGivable: [Bool]
    /// Positions of what every record is asked for.
    let knownPositions: KnownPositions

    /// The names of the fields with the times of making and of the last change.
    package struct Timestamps: Sendable, Hashable {
        /// The name of the field with the time of making.
        package var created: String
        /// The name of the field with the time of the last change.
        package var updated: String

        /// The names that `@model(timestamps:)` gives, or Amplify's own.
        package init(created: String = "createdAt", updated: String = "updatedAt") {
            self.created = created
            self.updated = updated
        }
    }

    struct KnownPositions: Sendable {
        var owner: Int?
        var version: Int?
        var deleted: Int?
        var changed: Int?
        var feedPosition: Int?
        var created: Int?
        var updated: Int?
        var making: Int?
        var author: Int?
        var id: Int?
        /// Fields of messages: topic, key and priority; nil for other models.
        var topic: Int?
        var key: Int?
        var priority: Int?
        /// Of messages, too: the number and the word of their type.
        var type: Int?
        var typeName: Int?
        /// Declared fields with a value of their own where the client gives none.
        var defaults: [(position: Int, value: FieldValue, isRequired: Bool)] = []
    }

    /// The hidden field that joins the values of a `@primaryKey`.
    package static let joinedKey = "_key"
    /// The hidden field with the time of making, in milliseconds: the order of lists.
    package static let makingTime = "_madeAt"
    /// The field with the word of a message's type.
    package static let typeName = "typeName"
    /// The hidden field with the time of the last change; null until the first one.
    package static let revisionTime = "_revisedAt"
    /// The hidden field with a message's position among all of its owner's; null where
    /// no text says whose it is.
    package static let feedPosition = "_position"
    /// The hidden field with the user who published a message by a grant; null where its
    /// owner did.
    package static let author = "_author"

    /// Builds a model of parts that `ModelTypeFactory` has checked against each other.
    package init(
        name: String,
        plural: String,
        table: ModelTable,
        fields: [ModelField],
        indexes: [ModelIndex],
        relations: [ModelRelation],
        rules: [AccessRule],
        fieldRules: [String: [AccessRule]] = [:],
        keyFields: [String] = ["id"],
        timestamps: Timestamps = Timestamps(),
        typeNames: MessageTypeNames = .shipped,
        isSharingAllowed: Bool = true,
        isShipped: Bool = false
    ) {
        self.name = name
        self.plural = plural
        self.table = table
        self.fields = fields
        self.indexes = indexes
        self.relations = relations
        self.rules = rules
        self.keyFields = keyFields
        self.timestamps = timestamps
        self.typeNames = typeNames
        let positions = FieldPositions(fields.map(\.name))
        self.positions = positions
        let isShareable = isSharingAllowed && (name != "Topic" || keyFields == ["id"])
        sharing = isShareable ? ModelSharing(of: name, table, rules, isShipped: isShipped) { positions[$0] } : nil
        inputKinds = fields.map { $0.role == .declared ? $0.kind : nil }
        textLimits = fields.map { TextLimit(of: $0.name, in: name) }
        self.fieldRules = Dictionary(
            fieldRules.compactMap { name, rules in positions[name].map { ($0, rules) } },
            uniquingKeysWith: { first, _ in first }
        )
        keyPosition = positions[keyFields == ["id"] ? "id" : Self.joinedKey]
        isSimplyOwned = Self.isSimplyOwned(by: rules, ownerField: positions["owner"].map { fields[$0] })
        numberPosition = positions["number"].flatMap { fields[$0].role == .generated ? $0 : nil }
        feedClaim = Self.feedClaim(rules, positions["owner"].map { fields[$0] })
        var knownPositions = KnownPositions(
            owner: positions["owner"],
            version: positions["_version"],
            deleted: positions["_deleted"],
            changed: positions["_lastChangedAt"],
            feedPosition: positions[Self.feedPosition],
            created: positions[timestamps.created],
            updated: positions[timestamps.updated],
            making: positions[Self.makingTime],
            author: positions[Self.author],
            id: positions["id"],
            topic: positions["topicId"],
            key: positions["key"],
            priority: positions["priority"],
            type: positions["type"].flatMap { fields[$0].kind == .int && !fields[$0].isList ? $0 : nil },
            typeName: positions[Self.typeName].flatMap { fields[$0].kind == .text ? $0 : nil }
        )
        let written = [knownPositions.owner, knownPositions.version, knownPositions.changed, knownPositions.making]
        let isGivable = fields.indices.map { fields[$0].role == .declared && !written.contains($0) }
        knownPositions.defaults = fields.indices.filter { isGivable[$0] }.compactMap { position in
            fields[position].defaultValue.map { (position, $0, fields[position].isRequired) }
        }
        self.isGivable = isGivable
        self.knownPositions = knownPositions
    }

    private static func isSimplyOwned(by rules: [AccessRule], ownerField: ModelField?) -> Bool {
        guard rules.count == 1, let owner = rules[0].owner, owner.field == "owner", let ownerField else { return false }
        return owner.claim == AccessRule.ownerClaim && ownerField.role == .generated
    }

    private static func feedClaim(_ rules: [AccessRule], _ owner: ModelField?) -> String? {
        let claims = Set(rules.compactMap(\.owner).filter { $0.field == "owner" }.map(\.claim))
        guard let owner, owner.role == .generated, !owner.isList, claims.count == 1 else { return nil }
        return claims.first
    }

    /// Position of a field in `fields` and in a record's values.
    package func position(of fieldName: String) -> Int? { positions[fieldName] }

    /// The text that names the row with these values of the key fields; nil when one is missing.
    package func key(of values: (String) -> FieldValue) -> String? {
        if keyFields == ["id"] { return values("id").text }
        var key = ""
        for name in keyFields {
            let text: String
            switch values(name) {
            case .text(let value): text = value
            case .int(let value): text = String(value)
            case .double(let value): text = String(value)
            case .bool(let value): text = String(value)
            case .null, .json: return nil
            }
            key += "\(text.utf8.count):\(text)"
        }
        return key
    }

    /// Whether the one owner field is the implicit one with the default claim,
    /// as in the shipped schema.
    let isSimplyOwned: Bool

    /// The fields that rules compare with a caller's claim, with that claim.
    package var ownerRules: [(field: String, claim: String)] { rules.compactMap(\.owner) }

    /// The claims that its rules name, those of fields and relations among them.
    package var claims: Set<String> {
        let ofParts = fieldRules.values.flatMap(\.self) + relations.compactMap(\.rules).flatMap(\.self)
        return Set((rules + ofParts).flatMap(\.claims))
    }
}

/// Where records of a model live.
package struct ModelTable: Sendable, Hashable {
    /// The table's name in the database.
    package var name: String
    /// Set for tables that hold several models (`records`): the value of the `model` column.
    package var discriminator: String?

    /// A table; with a `discriminator` when it holds several models.
    package init(name: String, discriminator: String? = nil) {
        self.name = name
        self.discriminator = discriminator
    }
}

/// One field of a model.
package struct ModelField: Sendable, Hashable {
    /// The GraphQL name, `createdAt`.
    package var name: String
    /// The GraphQL named type: `ID`, `String`, `Int`, `Float`, `Boolean`, `AWS…`,
    /// or an enum or nested type.
    package var typeName: String
    /// How its values are kept and compared; lists and objects are `json`.
    package var kind: Kind
    /// Whether it is a list.
    package var isList: Bool
    /// Whether the type declares it non-null.
    package var isRequired: Bool
    /// Where its values are stored.
    package var storage: Storage
    /// Who writes it.
    package var role: Role
    /// What a create stores when the client leaves the field out: `@default`.
    package var defaultValue: FieldValue?

    /// How a value is kept and compared.
    package enum Kind: Sendable, Hashable { case text, int, double, bool, json }

    /// Where the values of a field are stored.
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

    /// A field; by default a nullable one that clients write and that has a column of its name.
    package init(
        name: String,
        typeName: String,
        kind: Kind,
        isList: Bool = false,
        isRequired: Bool,
        storage: Storage,
        role: Role = .declared,
        defaultValue: FieldValue? = nil
    ) {
        self.name = name
        self.typeName = typeName
        self.kind = kind
        self.isList = isList
        self.isRequired = isRequired
        self.storage = storage
        self.role = role
        self.defaultValue = defaultValue
    }
}

/// An `@index`: a query by key, and an index of the database.
package struct ModelIndex: Sendable, Hashable {
    /// The index's name in the model file, or one made of its fields.
    package var name: String
    /// The field whose value the query must give.
    package var partitionField: String
    /// The fields that order the rows of one partition; may be empty.
    package var sortFields: [String]
    /// The root field that queries it; nil: none.
    package var queryField: String?

    /// An index of fields that the model has.
    package init(name: String, partitionField: String, sortFields: [String], queryField: String?) {
        self.name = name
        self.partitionField = partitionField
        self.sortFields = sortFields
        self.queryField = queryField
    }
}

/// A field that leads to another model.
package struct ModelRelation: Sendable, Hashable {
    /// What a relation leads to, and by which fields.
    package enum Kind: Sendable, Hashable {
        /// `@hasOne`, `@belongsTo`: the fields of this model that hold the target's key.
        case one(keyFields: [String])
        /// `@hasMany`: the target's records whose index has this model's field as its partition, in
        /// order of its sort fields.
        case many(field: String, index: ModelIndex)
    }

    /// The GraphQL field.
    package var fieldName: String
    /// The name of the model that it leads to.
    package var target: String
    /// One record or many.
    package var kind: Kind
    /// Who may follow it, in place of the model's rules; the target's rules
    /// hold for what it leads to.
    package var rules: [AccessRule]?

    /// A relation that `RelationLinker` has found both ends of.
    package init(fieldName: String, target: String, kind: Kind, rules: [AccessRule]? = nil) {
        self.fieldName = fieldName
        self.target = target
        self.kind = kind
        self.rules = rules
    }
}
