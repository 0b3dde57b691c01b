import GraphQL
import JSON
import TocsinCore

/// Resolvers of model types: stored fields, the owner as clients see it, relations and connections.
struct RecordResolvers {
    let schema: APISchema
    let sealer: any Sealer

    func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        for model in schema.models {
            for field in model.fields where schema.schema.type(named: model.name)?.field(named: field.name) != nil {
                registerField(field, of: model, in: &map)
            }
            for relation in model.relations { registerRelation(relation, of: model, in: &map) }
            registerConnection(of: model, in: &map)
        }
        registerMessageFields(in: &map)
    }

    private func registerField(
        _ field: ModelField,
        of model: ModelType,
        in map: inout ResolverMap<APIObject, RequestContext>
    ) {
        guard let position = model.position(of: field.name) else { return }
        let coordinate = "\(model.name).\(field.name)"
        if field.name == "owner" {
            map.leaf(coordinate) { object, out in
                guard let owner = object.record?.values[position].text else { return out.null() }
                out.string(Self.shownOwner(owner))
            }
        } else {
            map.leaf(coordinate) { object, out in
                guard case .record(let record) = object else { return out.null() }
                out.write(record.values[position])
            }
        }
    }

    /// The part after the last `::` (appsync.md 2.1).
    private static func shownOwner(_ owner: String) -> String {
        guard let colon = owner.utf8.lastIndex(of: UInt8(ascii: ":")), colon > owner.startIndex,
            owner.utf8[owner.utf8.index(before: colon)] == UInt8(ascii: ":")
        else { return owner }
        return String(owner[owner.utf8.index(after: colon)...])
    }

    /// One read for all parents of a level; what the caller may not read is as absent.
    private func registerRelation(
        _ relation: ModelRelation,
        of model: ModelType,
        in map: inout ResolverMap<APIObject, RequestContext>
    ) {
        guard let target = schema.models.first(where: { $0.name == relation.target }),
            let key = model.position(of: relation.keyField)
        else { return }
        map.batch("\(model.name).\(relation.fieldName)") { parents, invocation throws(GraphQLError) in
            let keys = parents.map { $0.record?.values[key].text }
            let found = try await invocation.serving { () throws(ServiceError) in
                try await invocation.context.services.models.records(
                    target,
                    ids: keys.compactMap(\.self),
                    caller: invocation.context.caller
                )
            }
            return keys.map { key in
                key.flatMap { found[$0] }.map { ResolvedValue.object(.record($0)) } ?? .null
            }
        }
    }

    private func registerConnection(of model: ModelType, in map: inout ResolverMap<APIObject, RequestContext>) {
        let name = "Model\(model.name)Connection"
        map.value("\(name).items") { object, _ in
            guard case .page(let page) = object else { return .null }
            return .objects(page.records.map { .record($0) })
        }
        map.leaf("\(name).nextToken") { object, out in
            guard case .page(let page) = object, let token = page.nextToken else { return out.null() }
            out.string(token)
        }
        // Only sync fills it (appsync.md 2.6).
        map.leaf("\(name).startedAt") { _, out in out.null() }
    }

    private func registerMessageFields(in map: inout ResolverMap<APIObject, RequestContext>) {
        let sealer = sealer
        guard let topic = schema.messages.position(of: "topicId"),
            let number = schema.messages.position(of: "number")
        else { return }
        map.leaf("Message.cursor") { object, out in
            guard case .record(let record) = object, let topic = record.values[topic].text,
                let number = record.values[number].int
            else { return out.null() }
            out.string(MessageCursor(topicID: TopicID(topic), number: number).text(sealer: sealer))
        }
    }
}

extension LeafWriter {
    /// Writes a stored value.
    mutating func write(_ value: FieldValue) {
        switch value {
        case .null: null()
        case .bool(let flag): bool(flag)
        case .int(let number): int(number)
        case .double(let number): double(number)
        case .text(let text): string(text)
        case .json(let text): json((try? JSONParser.parse(text)) ?? .null)
        }
    }
}

extension FieldInvocation where Context == RequestContext {
    var place: FieldPlace { FieldPlace(parentType: parentType, fieldName: fieldName) }

    /// Runs a service call and words its refusal for this field.
    func serving<Value: Sendable>(
        _ body: () async throws(ServiceError) -> Value
    ) async throws(GraphQLError) -> Value {
        do {
            return try await body()
        } catch {
            throw GraphQLError(error, at: place, report: context.services.report)
        }
    }

    /// A required text argument.
    func text(_ name: String) -> String { arguments[name]?.stringValue ?? "" }

    /// The predicate of a filter or condition argument.
    func predicate(_ argument: String, on model: ModelType) throws(ServiceError) -> Predicate {
        try FilterTranslation.predicate(
            arguments[argument],
            on: model,
            limits: context.services.checks.limits
        )
    }

    /// The page size asked for, checked.
    func pageSize() throws(ServiceError) -> Int {
        try context.services.checks.pageSize(arguments["limit"]?.intValue.map(Int.init))
    }

    /// The page token machine of this field, these arguments and this caller.
    var pageToken: PageToken {
        PageToken(
            sealer: context.services.sealer,
            field: "\(parentType).\(fieldName)",
            arguments: arguments.object,
            caller: context.caller
        )
    }
}
