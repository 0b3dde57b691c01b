import GraphQL
import JSON

/// The rows that are served, the same for the engine and its peers.
struct EngineData: Sendable {
    static let topicID = "0197a1b2-0000-7000-8000-00000000beef"
    static let topicName = "alerts"
    let messages: [Message]

    /// A stored message.
    struct Message: Sendable {
        var id: String
        var number: Int
        var type: Int
        var title: String
        var body: String
        var createdAt: String
    }

    /// A service whose queries answer this many rows.
    init(rows: Int) {
        messages = (1...rows).map { number in
            let digits = String(number)
            let padded = String(repeating: "0", count: 4 - digits.count) + digits
            return Message(
                id: "0197a1b2-0000-7000-8000-00000000" + padded,
                number: number,
                type: number % 5,
                title: "Disk full on db-\(number % 7)",
                body: "The disk of db-\(number % 7) is at \(80 + number % 20) %; "
                    + "\"/var/lib\" is the largest – see the runbook.",
                createdAt: "2026-07-01T12:\(padded.suffix(2)):00.\(padded.suffix(3))Z"
            )
        }
    }

    /// The same for peers.
    var json: JSONValue {
        let rows = messages.map { message -> JSONValue in
            [
                "id": .string(message.id), "number": .int(Int64(message.number)), "type": .int(Int64(message.type)),
                "title": .string(message.title), "body": .string(message.body), "createdAt": .string(message.createdAt),
            ]
        }
        return ["topic": ["id": .string(Self.topicID), "name": .string(Self.topicName)], "messages": .array(rows)]
    }
}

/// The engine with resolvers over `EngineData`, as an application would write them.
struct EngineService {
    let executable: ExecutableSchema<Object, EngineData>

    /// What fields are resolved of.
    enum Object: Sendable {
        case root
        case topic
        case message(EngineData.Message)
    }

    init(sdl: String) throws {
        var map = ResolverMap<Object, EngineData>()
        map.batch("Query.topics") { (_, field) throws(GraphQLError) in
            [.list((field.arguments["ids"]?.arrayValue ?? []).map { _ in .object(.topic) })]
        }
        map.batch("Topic.messages") { (parents, field) throws(GraphQLError) in
            let limit = field.arguments["limit"]?.intValue ?? 0
            return parents.map { _ in .objects(Self.rows(of: field.context, limit: Int(limit))) }
        }
        map.leaf("Topic.id") { _, out in out.string(EngineData.topicID) }
        map.leaf("Topic.name") { _, out in out.string(EngineData.topicName) }
        map.leaf("Message.id") { if case .message(let message) = $0 { $1.string(message.id) } }
        map.leaf("Message.number") { if case .message(let message) = $0 { $1.int(message.number) } }
        map.leaf("Message.type") { if case .message(let message) = $0 { $1.int(message.type) } }
        map.leaf("Message.title") { if case .message(let message) = $0 { $1.string(message.title) } }
        map.leaf("Message.body") { if case .message(let message) = $0 { $1.string(message.body) } }
        map.leaf("Message.createdAt") { if case .message(let message) = $0 { $1.string(message.createdAt) } }
        // What the query does not ask for.
        map.defaultResolver = { (_, _) throws(GraphQLError) in .null }
        map.defaultTypeName = { if case .message = $0 { "Message" } else { "Topic" } }
        executable = try ExecutableSchema(schema: try Schema(sdl: sdl), resolvers: map)
    }

    /// The source of rows: a fresh array of so many, as a store would give it.
    ///
    /// Not inlined, so that it is the same work alone and behind the engine.
    @inline(never)
    static func rows(of data: EngineData, limit: Int) -> [Object] {
        data.messages.prefix(limit).map { .message($0) }
    }

    /// The response that the engine gives, written by hand from the same rows.
    static func writtenByHand(_ data: EngineData, limit: Int, capacity: Int) -> [UInt8] {
        var out = JSONWriter(capacity: capacity)
        out.raw(#"{"data":{"topics":[{"id":"#)
        out.string(EngineData.topicID)
        out.raw(#","name":"#)
        out.string(EngineData.topicName)
        out.raw(#","messages":["#)
        var isFirst = true
        for message in data.messages.prefix(limit) {
            out.raw(isFirst ? #"{"id":"# : #",{"id":"#)
            isFirst = false
            out.string(message.id)
            out.raw(#","number":"#)
            out.int(Int64(message.number))
            out.raw(#","type":"#)
            out.int(Int64(message.type))
            out.raw(#","title":"#)
            out.string(message.title)
            out.raw(#","body":"#)
            out.string(message.body)
            out.raw(#","createdAt":"#)
            out.string(message.createdAt)
            out.raw("}")
        }
        out.raw("]}]}}")
        return out.bytes
    }
}
