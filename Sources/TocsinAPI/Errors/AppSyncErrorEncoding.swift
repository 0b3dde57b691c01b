import GraphQL
import JSON

/// Error objects in AppSync's shape: `errorType`, `errorInfo` and `data` at the root
/// (`docs/appsync.md`).
///
/// A resolver's error has all six members; one of the executor (null where none may be) or of the
/// whole request has only path, locations and message. Our own `extensions.code` is beside them.
struct AppSyncErrorEncoding: Sendable {
    let schema: Schema
    private static let shownExtensions = ["code", "cost", "maximumCost", "cursor", "oldestCursor", "requestId"]

    @Sendable
    func write(_ error: GraphQLError, to writer: inout JSONWriter) {
        writer.raw("{\"path\":")
        if let path = error.path { writer.value(.array(path.map(\.json))) } else { writer.null() }
        if error.path != nil, let errorType = error.extensions["errorType"] {
            writer.raw(",\"data\":")
            writer.value(error.extensions["data"] ?? .null)
            writer.raw(",\"errorType\":")
            writer.value(errorType)
            writer.raw(",\"errorInfo\":")
            writer.value(error.extensions["errorInfo"] ?? .null)
        }
        writer.raw(",\"locations\":[")
        for (index, location) in error.locations.enumerated() {
            if index > 0 { writer.byte(UInt8(ascii: ",")) }
            writer.raw("{\"line\":")
            writer.int(Int64(location.line))
            writer.raw(",\"column\":")
            writer.int(Int64(location.column))
            writer.raw(",\"sourceName\":null}")
        }
        writer.raw("],\"message\":")
        writer.string(message(of: error))
        let shown = Self.shownExtensions.compactMap { key in error.extensions[key].map { (key, $0) } }
        if !shown.isEmpty {
            writer.raw(",\"extensions\":")
            writer.value(.object(JSONObject(shown)))
        }
        writer.byte(UInt8(ascii: "}"))
    }

    private func message(of error: GraphQLError) -> String {
        if let message = error.appSyncMessage { return message }
        guard let path = error.path, error.extensions["code"] == nil else { return error.message }
        let pathText = path.map { element in
            switch element {
            case .key(let key): "/\(key)"
            case .index(let index): "[\(index)]"
            }
        }.joined()
        if let words = EngineWords(error.message, "Cannot return null for non-nullable field ", "."),
            let coordinate = words.values.first
        {
            let names = coordinate.split(separator: ".")
            let parent = names.first.map(String.init) ?? ""
            let field = schema.type(named: parent)?.field(named: names.last.map(String.init) ?? "")
            return "Cannot return null for non-nullable type: '\(field?.type.namedType ?? "Object")' "
                + "within parent '\(parent)' (\(pathText))"
        }
        return error.message.contains("cannot represent")
            ? "Can't serialize value (\(pathText)) : \(error.message)" : error.message
    }
}

/// Error objects of the specification (GraphQL §7.1.2), with only what clients
/// may see in `extensions`.
enum StandardErrorEncoding {
    @Sendable
    static func write(_ error: GraphQLError, to writer: inout JSONWriter) {
        writer.raw("{\"message\":")
        writer.string(error.message)
        writer.raw(",\"locations\":[")
        for (index, location) in error.locations.enumerated() {
            if index > 0 { writer.byte(UInt8(ascii: ",")) }
            writer.raw("{\"line\":")
            writer.int(Int64(location.line))
            writer.raw(",\"column\":")
            writer.int(Int64(location.column))
            writer.byte(UInt8(ascii: "}"))
        }
        writer.byte(UInt8(ascii: "]"))
        if let path = error.path {
            writer.raw(",\"path\":")
            writer.value(.array(path.map(\.json)))
        }
        var shown = error.extensions
        shown[GraphQLError.wording] = nil
        if !shown.isEmpty {
            writer.raw(",\"extensions\":")
            writer.value(.object(shown))
        }
        writer.byte(UInt8(ascii: "}"))
    }
}
