import TocsinCore

/// Joins the relations of all models: finds or makes the fields and indexes that they rest
/// on, under Amplify's names.
struct RelationLinker {
    private var models: [ModelDeclaration]
    private(set) var problems: [(line: Int, message: String)] = []

    init(models: [ModelDeclaration]) {
        self.models = models
    }

    /// The models with their relations, key fields and indexes.
    mutating func linked() -> [ModelDeclaration] {
        // First those that make fields on the other side, so that `@belongsTo` finds them.
        for kind in [ModelDeclaration.Relation.Kind.hasMany, .hasOne, .belongsTo] {
            for number in models.indices {
                for field in models[number].fields {
                    guard let relation = field.relation, relation.kind == kind else { continue }
                    link(relation, field, of: number)
                }
            }
        }
        return models
    }

    private mutating func link(
        _ relation: ModelDeclaration.Relation,
        _ field: ModelDeclaration.Field,
        of number: Int
    ) {
        guard let target = models.firstIndex(where: { $0.name == field.namedType }) else { return }
        switch relation.kind {
        case .hasMany: linkMany(relation, field, of: number, to: target)
        case .hasOne: linkOne(relation, field, of: number, to: target)
        case .belongsTo: linkBelongsTo(relation, field, of: number, to: target)
        }
    }

    private mutating func linkMany(
        _ relation: ModelDeclaration.Relation,
        _ field: ModelDeclaration.Field,
        of number: Int,
        to target: Int
    ) {
        let model = models[number]
        guard relation.fields.count <= 1, relation.references.count <= 1, model.keyFields.count == 1 else {
            let advice =
                "one field names the parent: give it one key field, or query \(models[target].name) by an index"
            return note(relation, "@hasMany on \(field.name) needs a single key field; \(advice).")
        }
        let source = relation.fields.first ?? model.keyFields[0]
        guard model.field(source)?.relation == nil, model.declares(source) else {
            return note(
                relation,
                "@hasMany on \(field.name) names the field \(source), which \(model.name) does not declare."
            )
        }
        let implicit = Self.implicitName(model.name, field.name)
        if relation.indexName == nil, relation.references.isEmpty {
            addField(implicit, type: model.field(source)?.namedType ?? "ID", to: target)
        }
        let reference = relation.references.first ?? implicit
        guard let index = index(relation, on: reference, for: "\(model.name).\(field.name)", in: target) else { return }
        models[number].relations.append(
            ModelRelation(
                fieldName: field.name,
                target: field.namedType,
                kind: .many(field: source, index: index),
                rules: field.rules
            )
        )
    }

    /// The index of the other side that finds a parent's records: the one named, or one on the
    /// field that refers to it.
    private mutating func index(
        _ relation: ModelDeclaration.Relation,
        on reference: String,
        for coordinate: String,
        in target: Int
    ) -> ModelIndex? {
        if let name = relation.indexName {
            if let found = models[target].indexes.first(where: { $0.name == name }) { return found }
            note(relation, "@hasMany names the index \(name), which \(models[target].name) does not have.")
            return nil
        }
        guard models[target].field(reference).map({ $0.relation == nil }) == true else {
            note(relation, "@hasMany references \(reference), which \(models[target].name) does not declare.")
            return nil
        }
        return ensureIndex(on: reference, for: coordinate, in: target)
    }

    private mutating func ensureIndex(on field: String, for relation: String, in target: Int) -> ModelIndex {
        if let found = models[target].indexes.first(where: { $0.partitionField == field }) { return found }
        let index = ModelIndex(name: "gsi-\(relation)", partitionField: field, sortFields: [], queryField: nil)
        models[target].indexes.append(index)
        return index
    }

    private mutating func linkOne(
        _ relation: ModelDeclaration.Relation,
        _ field: ModelDeclaration.Field,
        of number: Int,
        to target: Int
    ) {
        var keys = relation.fields
        if keys.isEmpty {
            guard models[target].keyFields.count == 1 else { return wrongKeys(relation, field, target) }
            let name = Self.implicitName(models[number].name, field.name)
            let key = models[target].field(models[target].keyFields[0])
            addField(name, type: key?.namedType ?? "ID", isRequired: field.isRequired, to: number)
            keys = [name]
        }
        appendOne(keys, relation, field, of: number, to: target)
    }

    private mutating func linkBelongsTo(
        _ relation: ModelDeclaration.Relation,
        _ field: ModelDeclaration.Field,
        of number: Int,
        to target: Int
    ) {
        let name = models[number].name
        let back = models[target].fields.first {
            $0.namedType == name && ($0.relation?.kind == .hasOne || $0.relation?.kind == .hasMany)
        }
        guard let back else {
            let advice = "add one to \(field.namedType), or write @hasOne(fields: [\"…Id\"]) here"
            return note(
                relation,
                "@belongsTo on \(field.name): \(field.namedType) has no @hasOne or @hasMany to \(name); \(advice)."
            )
        }
        var keys = relation.fields
        if keys.isEmpty {
            guard models[target].keyFields.count == 1 else { return wrongKeys(relation, field, target) }
            let many = models[target].relations.first { $0.fieldName == back.name }
            if case .many(_, let index)? = many?.kind {
                keys = [index.partitionField]
            } else {
                let implicit = Self.implicitName(name, field.name)
                let key = models[target].field(models[target].keyFields[0])
                addField(implicit, type: key?.namedType ?? "ID", isRequired: field.isRequired, to: number)
                keys = [implicit]
            }
        }
        appendOne(keys, relation, field, of: number, to: target)
    }

    private mutating func appendOne(
        _ keys: [String],
        _ relation: ModelDeclaration.Relation,
        _ field: ModelDeclaration.Field,
        of number: Int,
        to target: Int
    ) {
        guard keys.count == models[target].keyFields.count else { return wrongKeys(relation, field, target) }
        for key in keys where models[number].field(key)?.relation != nil || !models[number].declares(key) {
            note(relation, "@\(relation.kind.rawValue) on \(field.name) names the field \(key), which is not declared.")
        }
        for (key, named) in zip(keys, models[target].keyFields) {
            guard let holder = models[number].field(key), let held = models[target].field(named),
                holder.isList || Self.kind(of: holder) != Self.kind(of: held)
            else { continue }
            note(
                relation,
                "@\(relation.kind.rawValue) on \(field.name): \(key) is \(holder.typeText) and cannot hold \(named) of "
                    + "\(field.namedType); make it \(held.namedType)."
            )
        }
        models[number].relations.append(
            ModelRelation(
                fieldName: field.name,
                target: field.namedType,
                kind: .one(keyFields: keys),
                rules: field.rules
            )
        )
    }

    private mutating func wrongKeys(
        _ relation: ModelDeclaration.Relation,
        _ field: ModelDeclaration.Field,
        _ target: Int
    ) {
        let keys = models[target].keyFields.joined(separator: ", ")
        note(
            relation,
            "@\(relation.kind.rawValue) on \(field.name) needs fields that hold \(keys) of \(field.namedType), in that order."
        )
    }

    /// Ids and texts are compared with each other, other types with themselves.
    private static func kind(of field: ModelDeclaration.Field) -> String {
        field.namedType == "ID" ? "String" : field.namedType
    }

    private mutating func addField(_ name: String, type: String, isRequired: Bool = false, to number: Int) {
        guard !models[number].declares(name) else { return }
        models[number].fields.append(
            ModelDeclaration.Field(
                name: name,
                typeText: type + (isRequired ? "!" : ""),
                namedType: type,
                isList: false,
                isRequired: isRequired,
                isEnum: false,
                line: models[number].line
            )
        )
    }

    /// `postCommentsId` for `Post.comments`.
    private static func implicitName(_ model: String, _ field: String) -> String {
        model.loweredFirst + field.capitalizedFirst + "Id"
    }

    private mutating func note(_ relation: ModelDeclaration.Relation, _ message: String) {
        problems.append((relation.line, message))
    }
}
