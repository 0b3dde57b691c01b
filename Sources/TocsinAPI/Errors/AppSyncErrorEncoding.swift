import GraphQL
import JSON

/// Error objects in AppSync's shape: `errorType`, `errorInfo` and `data` at the root (appsync.md 2.3).
enum AppSyncErrorEncoding {
    /// An error of a resolver (with a path), or of a request (without).
    @Sendable
    static func write(_ error: GraphQLError, to writer: inout JSONWriter) {
        writer.raw("{\"path\":")
        if let path = error.path { write(path, to: &writer) } else { writer.null() }
        if error.path != nil {
            writer.raw(",\"data\":null,\"errorType\":")
            writer.value(error.extensions["errorType"] ?? .null)
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
        writer.string(error.message)
        let shown = ["code", "cost", "maximumCost"].compactMap { key in error.extensions[key].map { (key, $0) } }
        if !shown.isEmpty {
            writer.raw(",\"extensions\":")
            writer.value(.object(JSONObject(shown)))
        }
        writer.byte(UInt8(ascii: "}"))
    }

    private static func write(_ path: [PathElement], to writer: inout JSONWriter) {
        writer.byte(UInt8(ascii: "["))
        for (index, element) in path.enumerated() {
            if index > 0 { writer.byte(UInt8(ascii: ",")) }
            switch element {
            case .key(let key): writer.string(key)
            case .index(let position): writer.int(Int64(position))
            }
        }
        writer.byte(UInt8(ascii: "]"))
    }
}

/// Error objects of the specification (GraphQL §7.1.2), with only what clients may see in `extensions`.
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
            writer.value(
                .array(
                    path.map { element in
                        switch element {
                        case .key(let key): .string(key)
                        case .index(let position): .int(Int64(position))
                        }
                    }
                )
            )
        }
        if !error.extensions.isEmpty {
            writer.raw(",\"extensions\":")
            writer.value(.object(error.extensions))
        }
        writer.byte(UInt8(ascii: "}"))
    }
}
