import GraphQL
import JSON
import TocsinCore

/// Pages of one model: lists, queries by an index, and sync (`docs/appsync.md`).
struct ModelPages {
    let model: ModelType
    let invocation: FieldInvocation<RequestContext>

    private var arguments: Arguments { invocation.arguments }
    private var context: RequestContext { invocation.context }

    /// All records, or those of one partition of a primary key of one's own.
    func list() async throws(ServiceError) -> ResolvedValue<APIObject> {
        let everything = [ModelType.makingTime]
        if model.keyFields == ["id"] { return try await page(where: .always, sortedBy: everything) }
        let index = ModelIndex(
            name: "primary",
            partitionField: model.keyFields[0],
            sortFields: Array(model.keyFields.dropFirst()),
            queryField: nil
        )
        if arguments[index.partitionField].map({ !$0.isNull }) == true { return try await page(by: index) }
        for name in [index.sortArgumentName, "sortDirection"] {
            guard let value = arguments[name], !value.isNull else { continue }
            throw .badRequest(
                "When providing argument '\(name)' you must also provide arguments '\(index.partitionField)'.",
                .arguments
            )
        }
        return try await page(where: .always, sortedBy: everything)
    }

    /// All records, the newest first.
    func history() async throws(ServiceError) -> ResolvedValue<APIObject> {
        try await page(where: .always, sortedBy: [ModelType.makingTime], ascending: false)
    }

    func page(by index: ModelIndex) async throws(ServiceError) -> ResolvedValue<APIObject> {
        guard let partition = model.position(of: index.partitionField) else {
            throw .internal("index \(index.name) names no field")
        }
        let value = model.fields[partition].value(from: arguments[index.partitionField] ?? .null)
        let narrowed = try conditions(on: index)
        return try await page(
            where: Predicate.field(partition, .equal(value)).and(narrowed),
            sortedBy: index.sortFields
        )
    }

    /// The condition on the sort fields of an index; without any, an order cannot be asked for.
    func conditions(on index: ModelIndex) throws(ServiceError) -> Predicate {
        guard !index.sortFields.isEmpty else {
            guard arguments["sortDirection"].map({ !$0.isNull }) == true else { return .always }
            throw .badRequest(
                "sortDirection is not supported for List operations without a Sort key defined.",
                .arguments
            )
        }
        return try KeyCondition(
            model: model,
            fields: index.sortFields,
            limits: context.services.checks.limits,
            caller: context.caller
        ).predicate(arguments[index.sortArgumentName])
    }

    /// A total order: the sort fields, then `number` for messages of one topic, else the key.
    func order(by sortFields: [String], ascending isAscending: Bool? = nil) -> [ModelQuery.Order] {
        let ascending = isAscending ?? (arguments["sortDirection"]?.stringValue != "DESC")
        let isOfIndex = !sortFields.isEmpty && sortFields != [ModelType.makingTime]
        let number = isOfIndex ? model.numberPosition : nil
        let last = number ?? model.keyPosition
        return (sortFields.map { model.position(of: $0) } + [last]).compactMap(\.self)
            .map { ModelQuery.Order(field: $0, ascending: ascending) }
    }

    private func page(
        where predicate: Predicate,
        sortedBy sortFields: [String],
        ascending: Bool? = nil
    ) async throws(ServiceError) -> ResolvedValue<APIObject> {
        let order = order(by: sortFields, ascending: ascending)
        let token = invocation.pageToken
        let after = try token.position(from: arguments["nextToken"]?.stringValue)
        guard after == nil || after?.count == order.count else { throw .badPageToken }
        let page = try await context.services.models.page(
            model,
            range: predicate,
            filter: try invocation.predicate("filter", on: model),
            order: order,
            after: after,
            limit: try invocation.pageSize(),
            fields: selectedFields,
            caller: context.caller
        )
        try context.hold(page.bytes)
        return .object(.page(PageResult(page, token: token)))
    }

    /// Positions of the fields that are asked for of the items; nil where others may be looked at,
    /// as by relations and rules of single fields.
    private var selectedFields: Set<Int>? {
        var positions: Set<Int> = []
        for name in invocation.selection["items"]?.names ?? [] where name != "__typename" {
            guard let position = model.position(of: name), model.fieldRules[position] == nil else { return nil }
            positions.insert(position)
        }
        return positions
    }

    func sync() async throws(ServiceError) -> ResolvedValue<APIObject> {
        let token = invocation.pageToken
        let request = SyncRequest(
            model: model,
            filter: try invocation.predicate("filter", on: model),
            lastSync: arguments["lastSync"]?.intValue,
            limit: try invocation.pageSize(),
            position: try token.position(from: arguments["nextToken"]?.stringValue).map(Self.position)
        )
        let page = try await context.services.models.sync(request, caller: context.caller)
        try context.hold(page.bytes)
        let next = page.next.map { next in
            token.text(
                for: [.int(next.startedAt), next.since.map(FieldValue.int) ?? .null] + Self.place(next) + next.after
            )
        }
        return .object(.page(PageResult(records: page.records, nextToken: next, startedAt: page.startedAt)))
    }

    /// The run of a position and its topic; the first two runs as other releases write them.
    private static func place(_ position: SyncPosition) -> [FieldValue] {
        position.run <= .revised
            ? [.bool(position.run == .revised)] : [.int(position.run.rawValue), .text(position.topic)]
    }

    private static func position(_ values: [FieldValue]) throws(ServiceError) -> SyncPosition {
        guard values.count >= 4, let startedAt = values[0].int else { throw .badPageToken }
        var position = SyncPosition(startedAt: startedAt, since: values[1].int)
        if case .bool(let isAmongRevised) = values[2] {
            position.run = isAmongRevised ? .revised : .made
            position.after = Array(values[3...])
            guard position.after.count == 2 else { throw .badPageToken }
            return position
        }
        guard let run = values[2].int.flatMap(SyncPosition.Run.init), run > .revised, let topic = values[3].text else {
            throw .badPageToken
        }
        (position.run, position.topic, position.after) = (run, topic, Array(values[4...]))
        return position
    }
}

extension PageResult {
    /// A page with the token of the next one.
    init(_ page: RecordPage, token: PageToken) {
        self.init(records: page.records, nextToken: page.end.map(token.text), startedAt: nil)
    }
}
