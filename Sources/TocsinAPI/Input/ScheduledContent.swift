import GraphQL
import JSON
import TocsinCore

/// Reads the JSON of a message that is to be made later, by the same rules as `createMessage`.
struct ScheduledContent: Sendable {
    private let messages: ModelType
    private let inputs: StoredInputs
    /// Bytes of the JSON: a schedule is kept for long.
    private static let maximumBytes = 64 * 1024
    /// What the schedule says itself, with the reason.
    private static let ownFields = [
        ("topicId", "the topic is topicId beside input"), ("id", "each message gets an id of its own"),
        ("key", "each message gets a key of its own, scheduled/ID/SECONDS"),
        ("incident", "a message that comes later says nothing of an incident"),
    ]

    init(_ schema: APISchema) {
        messages = schema.messages
        inputs = StoredInputs(schema: schema.schema, scalars: Array(OperatorTypes.scalarNames)) {
            (value: JSONValue, scalar: String) throws(CoercionError) -> JSONValue in
            try AWSScalars.checked(value, as: scalar)
        }
    }

    func read(_ json: String) throws(ServiceError) -> RecordInput {
        guard json.utf8.count <= Self.maximumBytes else {
            throw .badInput("input has \(json.utf8.count) bytes; at most \(Self.maximumBytes) are allowed.")
        }
        guard var object = (try? JSONParser.parse(json))?.objectValue else {
            throw .badInput("input must be JSON of an object: the input of createMessage without topicId.")
        }
        for (name, reason) in Self.ownFields where object[name] != nil {
            throw .badInput("input.\(name) must be left out: \(reason).")
        }
        object["topicId"] = .string("topic")
        var coerced: JSONObject
        do throws(CoercionError) {
            coerced = try inputs.coerced(.object(object), to: "CreateMessageInput", named: "input").objectValue ?? [:]
        } catch {
            throw .badInput(error.message)
        }
        coerced["topicId"] = nil
        let input = messages.input(from: coerced)
        try PushInputCheck.check(data: input)
        try PushInputCheck.check(coerced["push"])
        return input
    }
}

extension AWSScalars {
    /// The value to keep of a scalar that clients send.
    static func checked(_ value: JSONValue, as scalar: String) throws(CoercionError) -> JSONValue {
        guard let coerced = coerced(value, as: scalar) else {
            throw CoercionError("Expected \(expectation(of: scalar)).")
        }
        return coerced
    }
}
