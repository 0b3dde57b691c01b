import GraphQL
import JSON
import TocsinCore

/// Resolvers of the generated root fields.
struct ModelResolvers {
    let schema: APISchema

    typealias Invocation = FieldInvocation<RequestContext>

    func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        for (coordinate, operation) in schema.operations {
            switch operation {
            case .onCreate, .onUpdate, .onDelete: continue
            case .create(let model):
                registerCreate(model, at: coordinate, in: &map)
                continue
            default: break
            }
            let resolvers = self
            map.service(coordinate) { invocation throws(ServiceError) in
                try await resolvers.resolve(operation, invocation)
            }
        }
        let messages = schema.messages
        map.service("Query.history") { invocation throws(ServiceError) in
            try await ModelPages(model: messages, invocation: invocation).history()
        }
    }

    private func resolve(
        _ operation: ModelOperation,
        _ invocation: Invocation
    ) async throws(ServiceError) -> ResolvedValue<APIObject> {
        let (caller, services) = (invocation.context.caller, invocation.context.services)
        switch operation {
        case .get(let model):
            noteSubject(of: model, invocation.arguments["id"], invocation)
            guard let key = model.key(in: invocation.arguments.object) else { return .null }
            let found = try await services.models.record(model, key: key, caller: caller)
            return found.map { .object(.record($0)) } ?? .null
        case .list(let model): return try await ModelPages(model: model, invocation: invocation).list()
        case .sync(let model): return try await ModelPages(model: model, invocation: invocation).sync()
        case .byIndex(let model, let index):
            return try await ModelPages(model: model, invocation: invocation).page(by: index)
        case .update(let model):
            noteSubject(of: model, invocation.arguments["input"]?["id"], invocation)
            return .object(.record(try await update(model, invocation)))
        case .delete(let model):
            noteSubject(of: model, invocation.arguments["input"]?["id"], invocation)
            let guarded = try writeGuard(model, invocation)
            return .object(.record(try await services.models.delete(model, guarded: guarded, caller: caller)))
        case .create, .onCreate, .onUpdate, .onDelete:
            throw .internal("a create or subscription field was resolved as another")
        }
    }

    /// Notes for the log which message or topic is asked for, whether there is one or not.
    private func noteSubject(of model: ModelType, _ id: JSONValue?, _ invocation: Invocation) {
        if model === schema.messages {
            invocation.context.held.note(topic: nil, message: id?.stringValue)
        } else if model === schema.topics {
            invocation.context.held.note(topic: id?.stringValue, message: nil)
        }
    }

    /// Creates are the hot path.
    ///
    /// Work before the first `await` is synchronous, so its locals live on the stack and not in the
    /// async frame.
    private func registerCreate(
        _ model: ModelType,
        at coordinate: String,
        in map: inout ResolverMap<APIObject, RequestContext>
    ) {
        let (isMessage, isTopic) = (model === schema.messages, model === schema.topics)
        map.root(coordinate) { invocation throws(GraphQLError) in
            let (caller, services) = (invocation.context.caller, invocation.context.services)
            do throws(ServiceError) {
                let (input, condition) = try Self.createInput(model, isMessage: isMessage, invocation)
                if isTopic { try PushInputCheck.check(topic: input) }
                let record =
                    if isMessage {
                        try await Self.publish(
                            input,
                            condition,
                            try Self.incident(invocation),
                            invocation.context
                        )
                    } else if isTopic {
                        try await services.topics.create(input, condition: condition, caller: caller)
                    } else {
                        try await services.models.create(model, input, condition: condition, caller: caller)
                    }
                invocation.context.held.note(record)
                return .object(.record(record))
            } catch {
                invocation.noteSubjects()
                if isMessage { invocation.context.held.note(.failed) }
                throw invocation.worded(error)
            }
        }
    }

    private static func publish(
        _ input: RecordInput,
        _ condition: Predicate,
        _ incident: MessageIncident?,
        _ context: RequestContext
    ) async throws(ServiceError) -> Record {
        let (message, isRepeated): (Record, Bool)
        if let incident {
            (message, isRepeated) = try await context.services.incidents.publish(
                input,
                about: incident,
                condition: condition,
                caller: context.caller
            )
        } else {
            (message, isRepeated) = try await context.services.messages.publish(
                input,
                condition: condition,
                caller: context.caller
            )
        }
        context.held.note(isRepeated ? .repeated : .created)
        return message
    }

    /// What a message says of an incident; nil: nothing.
    private static func incident(_ invocation: Invocation) throws(ServiceError) -> MessageIncident? {
        guard let given = invocation.arguments["input"]?["incident"]?.objectValue,
            let key = given["key"]?.stringValue
        else { return nil }
        let action = given["action"]?.stringValue.flatMap { SenderEvent.Action(rawValue: $0.lowercased()) }
        let data = invocation.arguments["input"]?["data"]?.stringValue
        return MessageIncident(
            key: key,
            action: action ?? .trigger,
            data: try data.map { text throws(ServiceError) in try PushInputCheck.texts(text, "data") } ?? [:]
        )
    }

    private static func createInput(
        _ model: ModelType,
        isMessage: Bool,
        _ invocation: Invocation
    ) throws(ServiceError) -> (RecordInput, condition: Predicate) {
        let given = invocation.arguments["input"]
        let input = model.input(from: given?.objectValue ?? [:])
        if isMessage {
            try PushInputCheck.check(data: input)
            try PushInputCheck.check(given?["push"])
        }
        return (input, try invocation.predicate("condition", on: model))
    }

    private func update(_ model: ModelType, _ invocation: Invocation) async throws(ServiceError) -> Record {
        var values = model.input(from: invocation.arguments["input"]?.objectValue ?? [:])
        for name in model.keyFields { values[name] = nil }
        try checkRemovals(values, of: model, path: invocation.responseKey)
        if model === schema.messages { try PushInputCheck.check(data: values) }
        if model === schema.topics { try PushInputCheck.check(topic: values) }
        return try await invocation.context.services.models.update(
            model,
            values,
            guarded: try writeGuard(model, invocation),
            lasting: model === schema.messages ? MessageService.lastingFields : [],
            caller: invocation.context.caller
        )
    }

    /// Refuses a null for a field that the type requires, before anything is written.
    private func checkRemovals(_ input: RecordInput, of model: ModelType, path: String) throws(ServiceError) {
        for field in model.fields where field.isRequired && input[field.name] == .null {
            throw .badRequest(
                "Cannot return null for non-nullable type: '\(field.typeName)' within parent '\(model.name)' "
                    + "(/\(path)/\(field.name))"
            )
        }
    }

    private func writeGuard(_ model: ModelType, _ invocation: Invocation) throws(ServiceError) -> WriteGuard {
        let input = invocation.arguments["input"]?.objectValue ?? [:]
        guard let key = model.key(in: input) else { throw .unauthorized }
        return WriteGuard(
            id: key,
            version: input["_version"]?.intValue,
            condition: try invocation.predicate("condition", on: model)
        )
    }
}

extension ModelType {
    /// The key that arguments or an input name.
    func key(in object: JSONObject) -> String? {
        key { name in
            guard let position = position(of: name), let value = object[name] else { return .null }
            return fields[position].value(from: value)
        }
    }
}

extension ModelType {
    /// The stored values of a create or update input that has been coerced against the schema.
    func input(from object: JSONObject) -> RecordInput {
        var input = RecordInput(of: self, capacity: object.count)
        for member in object {
            guard let position = position(of: member.key), let kind = inputKinds[position] else { continue }
            input.append(kind.value(from: member.value), at: position)
        }
        return input
    }
}

extension ModelField {
    /// The stored value of a coerced input value.
    func value(from json: JSONValue) -> FieldValue { kind.value(from: json) }
}

extension ModelField.Kind {
    /// The stored value of a coerced input value.
    func value(from json: JSONValue) -> FieldValue {
        switch (self, json) {
        case (_, .null): .null
        case (.text, .string(let text)): .text(text)
        case (.bool, .bool(let flag)): .bool(flag)
        case (.int, _): json.intValue.map(FieldValue.int) ?? .null
        case (.double, _): json.doubleValue.map(FieldValue.double) ?? .null
        case (.json, _): .json(json.serializedString())
        case (.text, _), (.bool, _): .null
        }
    }
}
