import GraphQL
import JSON
import Synchronization
import Testing

/// Executes documents over JSON values: a field gives the member of its name,
/// `__typename` names the object type.
struct JSONService {
    var schema: Schema
    var executable: ExecutableSchema<JSONValue, CallLog>

    init(_ sdl: String, _ configure: (inout ResolverMap<JSONValue, CallLog>) -> Void = { _ in }) throws {
        schema = try Schema(sdl: sdl)
        var resolvers = ResolverMap<JSONValue, CallLog>()
        resolvers.defaultResolver = { (parent, field) throws(GraphQLError) in
            let value = parent[field.fieldName] ?? .null
            let isScalar = field.selection.isEmpty && value["__error"] == nil
            return isScalar ? .leaf(value) : try Self.resolved(value)
        }
        resolvers.defaultTypeName = { $0["__typename"]?.stringValue ?? "" }
        configure(&resolvers)
        executable = try ExecutableSchema(schema: schema, resolvers: resolvers)
    }

    /// A JSON value as a resolved one; an object `{"__error": "text"}` is thrown.
    static func resolved(_ value: JSONValue) throws(GraphQLError) -> ResolvedValue<JSONValue> {
        if let message = value["__error"]?.stringValue { throw GraphQLError(message) }
        return list(value)
    }

    private static func list(_ value: JSONValue) -> ResolvedValue<JSONValue> {
        switch value {
        case .null: return .null
        case .array(let values): return .list(values.map(list))
        case .object:
            if let message = value["__error"]?.stringValue { return .failure(GraphQLError(message)) }
            return .object(value)
        default: return .leaf(value)
        }
    }

    /// The response as JSON text.
    func run(
        _ document: String,
        root: JSONValue = [:],
        variables: JSONObject = [:],
        operationName: String? = nil,
        log: CallLog = CallLog()
    ) async throws -> String {
        let document = try parse(document)
        let errors = validate(document, against: executable.schema)
        try #require(errors.isEmpty, "\(errors)")
        let plan = try ExecutionPlan.make(
            document: document,
            operationName: operationName,
            schema: executable.schema
        )
        let result = await executable.execute(plan, variables: variables, root: root, context: log)
        return String(decoding: result.bytes, as: UTF8.self)
    }
}

/// What resolvers were called with, in order.
final class CallLog: Sendable {
    private let lines = Mutex<[String]>([])

    func add(_ line: String) { lines.withLock { $0.append(line) } }

    var entries: [String] { lines.withLock { $0 } }
}
