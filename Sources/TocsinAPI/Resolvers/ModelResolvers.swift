import GraphQL
import JSON
import TocsinCore

/// Resolvers of the generated root fields.
struct ModelResolvers {
    let schema: APISchema

    private typealias Invocation = FieldInvocation<RequestContext>

    func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        for (coordinate, operation) in schema.operations {
            switch operation {
            case .onCreate, .onUpdate, .onDelete: continue
            default: break
            }
            let resolvers = self
            map.batch(coordinate) { parents, invocation throws(GraphQLError) in
                let value = try await invocation.serving { () throws(ServiceError) in
                    try await resolvers.resolve(operation, invocation)
                }
                return parents.map { _ in value }
            }
        }
    }

    private func resolve(
        _ operation: ModelOperation,
        _ invocation: Invocation
    ) async throws(ServiceError) -> ResolvedValue<APIObject> {
        let (caller, services) = (invocation.context.caller, invocation.context.services)
        switch operation {
        case .get(let model):
            let id = invocation.text("id")
            let found = try await services.models.records(model, ids: [id], caller: caller)
            return found[id].map { .object(.record($0)) } ?? .null
        case .list(let model):
            return try await page(model, where: .always, sortedBy: [], invocation)
        case .byIndex(let model, let index):
            return try await page(model, index, invocation)
        case .create(let model):
            return .object(.record(try await create(model, invocation)))
        case .update(let model):
            let input = invocation.arguments["input"]?.objectValue ?? [:]
            let values = model.input(from: input)
            try checkRemovals(values, of: model)
            let guarded = try writeGuard(model, input, invocation)
            return .object(.record(try await services.models.update(model, values, guarded: guarded, caller: caller)))
        case .delete(let model):
            let input = invocation.arguments["input"]?.objectValue ?? [:]
            let guarded = try writeGuard(model, input, invocation)
            return .object(.record(try await services.models.delete(model, guarded: guarded, caller: caller)))
        case .onCreate, .onUpdate, .onDelete:
            throw .internal("a subscription field was resolved as a query")
        }
    }

    // MARK: Writing

    private func create(_ model: ModelType, _ invocation: Invocation) async throws(ServiceError) -> Record {
        let (caller, services) = (invocation.context.caller, invocation.context.services)
        let input = model.input(from: invocation.arguments["input"]?.objectValue ?? [:])
        try checkData(input)
        try PushInputCheck.check(invocation.arguments["input"]?["push"])
        let condition = try invocation.predicate("condition", on: model)
        switch model.name {
        case "Topic": return try await services.topics.create(input, condition: condition, caller: caller)
        case "Message": return try await services.messages.create(input, condition: condition, caller: caller)
        default: return try await services.models.create(model, input, condition: condition, caller: caller)
        }
    }

    /// `data` is a map of strings: FCM takes nothing else, and a phone cannot ask what was meant.
    private func checkData(_ input: RecordInput) throws(ServiceError) {
        guard let text = input["data"]?.text else { return }
        let isMap = (try? JSONParser.parse(text))?.objectValue?.allSatisfy { $0.value.stringValue != nil } == true
        guard isMap else {
            throw .badInput(
                "data must be JSON of an object whose values are all strings, like \"{\\\"k\\\":\\\"v\\\"}\"."
            )
        }
    }

    /// Refuses to remove what the type requires, before anything is written (appsync.md 2.8).
    private func checkRemovals(_ input: RecordInput, of model: ModelType) throws(ServiceError) {
        for field in model.fields where field.isRequired && input[field.name] == .null {
            throw .badRequest(
                "Cannot return null for non-nullable type: '\(field.typeName)' within parent '\(model.name)' "
                    + "(\(field.name)). Leave the field out to keep it."
            )
        }
    }

    private func writeGuard(
        _ model: ModelType,
        _ input: JSONObject,
        _ invocation: Invocation
    ) throws(ServiceError) -> WriteGuard {
        WriteGuard(
            id: input["id"]?.stringValue ?? "",
            version: input["_version"]?.intValue,
            condition: try invocation.predicate("condition", on: model)
        )
    }

    // MARK: Reading

    private func page(
        _ model: ModelType,
        _ index: ModelIndex,
        _ invocation: Invocation
    ) async throws(ServiceError) -> ResolvedValue<APIObject> {
        guard let partition = model.position(of: index.partitionField) else {
            throw .internal("index \(index.name) names no field")
        }
        if index.sortFields.isEmpty, invocation.arguments["sortDirection"].map({ !$0.isNull }) == true {
            throw .badRequest(
                "sortDirection is not supported for List operations without a Sort key defined.",
                .arguments
            )
        }
        let value = model.fields[partition].value(from: invocation.arguments[index.partitionField] ?? .null)
        var predicate = Predicate.field(partition, .equal(value))
        for field in index.sortFields {
            let condition = try FilterTranslation.keyCondition(
                invocation.arguments[field],
                on: field,
                of: model,
                limits: invocation.context.services.checks.limits
            )
            predicate = predicate.and(condition)
        }
        return try await page(model, where: predicate, sortedBy: index.sortFields, invocation)
    }

    /// A page in a total order: the sort fields, then `number` where the model has it, else `id`.
    private func page(
        _ model: ModelType,
        where predicate: Predicate,
        sortedBy sortFields: [String],
        _ invocation: Invocation
    ) async throws(ServiceError) -> ResolvedValue<APIObject> {
        let ascending = invocation.arguments["sortDirection"]?.stringValue != "DESC"
        let last = !sortFields.isEmpty && model.position(of: "number") != nil ? "number" : "id"
        let order = (sortFields + [last]).compactMap { model.position(of: $0) }
            .map { ModelQuery.Order(field: $0, ascending: ascending) }
        let token = invocation.pageToken
        let after = try token.position(from: invocation.arguments["nextToken"]?.stringValue)
        guard after == nil || after?.count == order.count else { throw .badPageToken }
        let query = ModelQuery(
            model: model,
            predicate: predicate.and(try invocation.predicate("filter", on: model)),
            order: order,
            after: after,
            limit: try invocation.pageSize()
        )
        let page = try await invocation.context.services.models.page(query, caller: invocation.context.caller)
        let next =
            page.hasMore ? page.records.last.map { last in token.text(for: order.map { last.values[$0.field] }) } : nil
        return .object(.page(PageResult(records: page.records, nextToken: next)))
    }
}
