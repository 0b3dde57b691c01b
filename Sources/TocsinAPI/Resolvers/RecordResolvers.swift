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
            for relation in model.relations {
                RelationResolvers(schema: schema).register(relation, of: model, in: &map)
            }
            registerConnection(of: model, in: &map)
        }
        for type in schema.embedded { EmbeddedResolvers.register(type, in: &map) }
        registerMessageFields(in: &map)
        TopicFeedResolvers.register(in: &map, sealer: sealer)
    }

    private func registerField(
        _ field: ModelField,
        of model: ModelType,
        in map: inout ResolverMap<APIObject, RequestContext>
    ) {
        guard let position = model.position(of: field.name) else { return }
        let coordinate = "\(model.name).\(field.name)"
        if model.fieldRules[position] != nil {
            registerProtected(position, of: model, in: &map)
        } else if model.ownerRules.contains(where: { $0.field == field.name }) {
            map.leaf(coordinate) { object, out in
                guard case .record(let record) = object else { return out.null() }
                // Apart from lists, for speed: every row of a page comes here.
                guard case .text(let owner) = record.values[position] else {
                    return out.write(ShownOwner.value(record.values[position]))
                }
                out.string(ShownOwner.text(owner))
            }
        } else if schema.isEmbedded(field) {
            map.value(coordinate) { object, _ in
                object.record.map { EmbeddedResolvers.value($0.values[position].json) } ?? .null
            }
        } else {
            map.leaf(coordinate) { object, out in
                guard case .record(let record) = object else { return out.null() }
                out.write(record.values[position])
            }
        }
    }

    /// A field with rules of its own: null with an error for whom they do not let read it.
    private func registerProtected(
        _ position: Int,
        of model: ModelType,
        in map: inout ResolverMap<APIObject, RequestContext>
    ) {
        let isEmbedded = schema.isEmbedded(model.fields[position])
        map.value("\(model.name).\(model.fields[position].name)") { object, invocation in
            guard let record = object.record else { return .null }
            guard record.isReadable(at: position, by: invocation.context.caller) else {
                return .failure(GraphQLError(ServiceError.unauthorized, at: invocation.coordinate, report: { $0 }))
            }
            let value = record.values[position].json
            return isEmbedded ? EmbeddedResolvers.value(value) : .leaf(value)
        }
    }

    private func registerConnection(of model: ModelType, in map: inout ResolverMap<APIObject, RequestContext>) {
        let name = "Model\(model.name.capitalizedFirst)Connection"
        map.value("\(name).items") { object, _ in
            guard case .page(let page) = object else { return .null }
            return .objects(page.records.map { .record($0) })
        }
        map.leaf("\(name).nextToken") { object, out in
            guard case .page(let page) = object, let token = page.nextToken else { return out.null() }
            out.string(token)
        }
        map.leaf("\(name).startedAt") { object, out in
            guard case .page(let page) = object else { return out.null() }
            out.int(page.startedAt)
        }
    }

    private func registerMessageFields(in map: inout ResolverMap<APIObject, RequestContext>) {
        let sealer = sealer
        map.value("Message.cursor") { object, invocation in
            let caller = invocation.context.caller
            let cursor = object.record.flatMap { MessageCursor(of: $0, for: caller) }
            return cursor.map { .leaf(.string($0.text(sealer: sealer))) } ?? .null
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
        case .json: json(value.json)
        }
    }
}

extension FieldInvocation where Context == RequestContext {
    var coordinate: FieldCoordinate { FieldCoordinate(parentType: parentType, fieldName: fieldName) }

    /// Runs a service call and words its refusal for this field.
    func serving<Value: Sendable>(
        _ body: () async throws(ServiceError) -> Value
    ) async throws(GraphQLError) -> Value {
        do {
            return try await body()
        } catch {
            throw worded(error)
        }
    }

    /// A service's refusal in this field's words.
    func worded(_ error: ServiceError) -> GraphQLError {
        let caller = context.caller
        return GraphQLError(error, at: coordinate, report: context.services.report) { record in
            RecordProjection(caller: caller).json(of: record, selection)
        }
    }

    /// Notes the topic and the message that the arguments name, for the log.
    func noteSubjects() {
        let input = arguments["input"]
        let topic = (arguments["topicId"] ?? input?["topicId"])?.stringValue
        let message = (arguments["messageId"] ?? input?["messageId"])?.stringValue
        if topic != nil || message != nil { context.held.note(topic: topic, message: message) }
    }

    /// A required text argument.
    func text(_ name: String) -> String { arguments[name]?.stringValue ?? "" }

    /// A flag among the arguments; false where it was left out.
    func flag(_ name: String) -> Bool { arguments[name]?.boolValue ?? false }

    /// The predicate of a filter or condition argument.
    func predicate(_ argument: String, on model: ModelType) throws(ServiceError) -> Predicate {
        try FilterTranslation.predicate(
            arguments[argument],
            on: model,
            limits: context.services.checks.limits,
            caller: context.caller
        )
    }

    /// The page size asked for, checked.
    func pageSize() throws(ServiceError) -> Int {
        try context.services.checks.pageSize(arguments["limit"]?.intValue.map(Int.init))
    }

    /// The page token machine of this field, these arguments and this caller.
    var pageToken: PageToken { pageToken(ofField: "\(parentType).\(fieldName)") }

    /// The same for a field of the object with this id.
    func pageToken(of id: String) -> PageToken { pageToken(ofField: "\(parentType).\(fieldName)/\(id)") }

    private func pageToken(ofField field: String) -> PageToken {
        PageToken(sealer: context.services.sealer, field: field, arguments: arguments.object, caller: context.caller)
    }
}
