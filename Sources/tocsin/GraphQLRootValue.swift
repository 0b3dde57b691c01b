import GraphQL
import JSON

/// Executes operations against a JSON value: fields are its members, `__typename` names
/// the type where it is open.
struct RootValueRequest: Sendable {
    var root: JSONValue
    var variables: JSONObject
    /// Whether the value `"$args"` stands for the field's coerced arguments.
    var echoesArguments: Bool

    func execute(
        _ document: Document,
        _ operationName: String?,
        _ schema: Schema
    ) async throws(RequestErrors) -> ExecutionResult {
        let executable: ExecutableSchema<JSONValue, RootValueRequest>
        do throws(SchemaBindingErrors) {
            executable = try ExecutableSchema(schema: schema, resolvers: Self.resolvers(schema))
        } catch {
            throw RequestErrors(kind: .validation, errors: error.problems.map { GraphQLError($0) })
        }
        let plan: ExecutionPlan
        do throws(GraphQLError) {
            plan = try ExecutionPlan.make(
                document: document,
                operationName: operationName,
                schema: executable.schema,
                limits: .specification
            )
        } catch {
            throw RequestErrors(kind: .operation, errors: [error])
        }
        return await executable.execute(plan, variables: variables, root: root, context: self)
    }

    private static func resolvers(_ schema: Schema) -> ResolverMap<JSONValue, RootValueRequest> {
        var map = ResolverMap<JSONValue, RootValueRequest>()
        map.defaultResolver = { (parent, field) throws(GraphQLError) in
            guard let value = parent[field.fieldName] else { return .null }
            if field.context.echoesArguments, value == .string("$args") {
                return .leaf(.string(JSONValue.object(field.arguments.object).serializedString()))
            }
            let type = schema.type(named: field.parentType)?.field(named: field.fieldName)?.type
            switch type.flatMap({ schema.type(named: $0.namedType) })?.kind {
            case .object, .interface, .union: return objects(value, type)
            default: return .leaf(value)
            }
        }
        map.defaultTypeName = { $0["__typename"]?.stringValue ?? "" }
        return map
    }

    /// Objects as deep in lists as their field's type; what is no list where one belongs is
    /// for the engine to refuse.
    private static func objects(_ value: JSONValue, _ type: TypeReference?) -> ResolvedValue<JSONValue> {
        switch value {
        case .null: .null
        case .array(let values): .list(values.map { objects($0, type?.element) })
        default: type?.isList == true ? .leaf(value) : .object(value)
        }
    }
}
