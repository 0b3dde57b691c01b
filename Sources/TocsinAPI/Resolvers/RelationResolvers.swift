import GraphQL
import JSON
import TocsinCore

/// Fields that lead to other models: one statement for all parents of a level; what the caller
/// may not read is as absent.
struct RelationResolvers {
    let schema: APISchema

    func register(
        _ relation: ModelRelation,
        of model: ModelType,
        in map: inout ResolverMap<APIObject, RequestContext>
    ) {
        guard let target = schema.models.first(where: { $0.name == relation.target }) else { return }
        let coordinate = "\(model.name).\(relation.fieldName)"
        switch relation.kind {
        case .one(let keyFields):
            registerOne(coordinate, RelationGuard(relation, of: model), keyFields, to: target, in: &map)
        case .many(let field, let index):
            guard let position = model.position(of: field) else { return }
            let related = RelatedPages.Source(target: target, position: position, index: index)
            registerMany(coordinate, RelationGuard(relation, of: model), related, in: &map)
        }
    }

    private func registerOne(
        _ coordinate: String,
        _ relation: RelationGuard,
        _ keyFields: [String],
        to target: ModelType,
        in map: inout ResolverMap<APIObject, RequestContext>
    ) {
        let model = relation.model
        let positions = Dictionary(zip(target.keyFields, keyFields.map { model.position(of: $0) })) { first, _ in first
        }
        // Apart, for speed: most relations are by id.
        let single = target.keyFields == ["id"] ? keyFields.first.flatMap { model.position(of: $0) } : nil
        map.batch(coordinate) { parents, invocation throws(GraphQLError) in
            let keys = parents.map { parent -> String? in
                guard let record = parent.record else { return nil }
                if let single { return record.values[single].text }
                return target.key { name in (positions[name] ?? nil).map { record.values[$0] } ?? .null }
            }
            let found = try await invocation.serving { () throws(ServiceError) in
                let found = try await invocation.context.services.models.records(
                    target,
                    ids: keys.compactMap(\.self),
                    caller: invocation.context.caller
                )
                try invocation.context.hold(found.values.reduce(0) { $0 + $1.approximateBytes })
                return found
            }
            let values = keys.map { key -> ResolvedValue<APIObject> in
                key.flatMap { found[$0] }.map { ResolvedValue.object(.record($0)) } ?? .null
            }
            return relation.guarded(values, of: parents, invocation)
        }
    }

    private func registerMany(
        _ coordinate: String,
        _ relation: RelationGuard,
        _ source: RelatedPages.Source,
        in map: inout ResolverMap<APIObject, RequestContext>
    ) {
        guard let partition = source.target.position(of: source.index.partitionField) else { return }
        map.batch(coordinate) { parents, invocation throws(GraphQLError) in
            let values = parents.map { $0.record?.values[source.position] ?? .null }
            let pages = try await invocation.serving { () throws(ServiceError) in
                try await RelatedPages(source: source, partition: partition, invocation: invocation).resolve(values)
            }
            return relation.guarded(pages, of: parents, invocation)
        }
    }
}

/// The rules that a relation field has of its own, and those of the fields
/// whose values it leads along.
private struct RelationGuard: Sendable {
    let relation: ModelRelation
    let model: ModelType
    /// The fields of the parent that say where the relation leads, so that
    /// what it leads to tells them.
    private let leading: [Int]

    init(_ relation: ModelRelation, of model: ModelType) {
        self.relation = relation
        self.model = model
        let names =
            switch relation.kind {
            case .one(let keyFields): keyFields
            case .many(let field, _): [field]
            }
        leading = names.compactMap { model.position(of: $0) }
    }

    /// The values, with a refusal in place of those whose parent's relation
    /// the caller may not follow.
    func guarded(
        _ values: [ResolvedValue<APIObject>],
        of parents: some Sequence<APIObject>,
        _ invocation: FieldInvocation<RequestContext>
    ) -> [ResolvedValue<APIObject>] {
        let caller = invocation.context.caller
        var followed = AccessPolicy.readable(leading, of: model, by: caller)
        switch AccessPolicy.decision(following: relation, of: model, for: caller) {
        case nil: break
        case .deny?: followed = .never
        case .allow(let predicate)?: followed = followed.and(predicate)
        }
        guard followed != .always else { return values }
        return zip(values, parents).map { value, parent in
            if let record = parent.record, followed.matches(record) { return value }
            return .failure(GraphQLError(ServiceError.unauthorized, at: invocation.coordinate, report: { $0 }))
        }
    }
}

/// The pages of one `@hasMany` field.
private struct RelatedPages {
    /// Where a parent's records are.
    struct Source: Sendable {
        let target: ModelType
        /// The field of the parent whose value they have.
        let position: Int
        /// The index of theirs that has this value.
        let index: ModelIndex
    }

    let source: Source
    /// The field of theirs that has the parent's value.
    let partition: Int
    let invocation: FieldInvocation<RequestContext>

    func resolve(_ values: [FieldValue]) async throws(ServiceError) -> [ResolvedValue<APIObject>] {
        let (target, index) = (source.target, source.index)
        let pages = ModelPages(model: target, invocation: invocation)
        let order = pages.order(by: index.sortFields)
        var query = RelatedQuery(
            model: target,
            field: partition,
            range: try pages.conditions(on: index),
            filter: try invocation.predicate("filter", on: target),
            order: order,
            after: nil,
            limit: try invocation.pageSize()
        )
        let (services, caller) = (invocation.context.services, invocation.context.caller)
        var found: [FieldValue: RecordPage] = [:]
        if let text = invocation.arguments["nextToken"]?.stringValue {
            // A token is good for one parent, so that there is one to ask for.
            for value in Set(values) where !value.isNull {
                query.after = try token(for: value).position(from: text)
                guard query.after?.count == order.count else { throw .badPageToken }
                found.merge(try await services.models.pages(query, of: [value], caller: caller)) { first, _ in first }
            }
        } else {
            found = try await services.models.pages(query, of: values, caller: caller)
        }
        try invocation.context.hold(found.values.reduce(0) { $0 + $1.bytes })
        return values.map { value in
            let page = found[value] ?? RecordPage(records: [])
            return .object(.page(PageResult(page, token: token(for: value))))
        }
    }

    private func token(for value: FieldValue) -> PageToken {
        PageToken(
            sealer: invocation.context.services.sealer,
            field: "\(invocation.parentType).\(invocation.fieldName)",
            parent: value.json.serializedString(),
            arguments: invocation.arguments.object,
            caller: invocation.context.caller
        )
    }
}
