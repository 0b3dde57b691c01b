public import JSON

/// One step into a response: a key of an object, or an index of a list.
public enum PathElement: Sendable, Hashable {
    /// A response key.
    case key(String)
    /// A position in a list.
    case index(Int)

    /// The step as it stands in a response.
    public var json: JSONValue {
        switch self {
        case .key(let key): .string(key)
        case .index(let index): .int(Int64(index))
        }
    }
}

/// One error of a response (GraphQL §7.1.2).
public struct GraphQLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What went wrong, for people.
    public var message: String
    /// The locations in the document it is about.
    public var locations: [SourceLocation]
    /// The path in the response it is about.
    public var path: [PathElement]?
    /// What programs may want to know.
    public var extensions: JSONObject

    /// An error; the engine adds locations and path to those that resolvers give.
    public init(
        _ message: String,
        locations: [SourceLocation] = [],
        path: [PathElement]? = nil,
        extensions: JSONObject = [:]
    ) {
        self.message = message
        self.locations = locations
        self.path = path
        self.extensions = extensions
    }

    /// The error of a document that could not be read.
    public init(_ error: SyntaxError) {
        self.init(error.message, locations: error.locations)
    }

    /// The message with its first location.
    public var description: String {
        guard let location = locations.first else { return message }
        return "\(message) (line \(location.line), column \(location.column))"
    }

    /// Writes the error in the shape of GraphQL §7.1.2.
    public func write(to writer: inout JSONWriter) {
        writer.raw("{\"message\":")
        writer.string(message)
        if !locations.isEmpty {
            writer.raw(",\"locations\":")
            writer.value(.array(locations.map { ["line": .int(Int64($0.line)), "column": .int(Int64($0.column))] }))
        }
        if let path {
            writer.raw(",\"path\":")
            writer.value(.array(path.map(\.json)))
        }
        if !extensions.isEmpty {
            writer.raw(",\"extensions\":")
            writer.value(.object(extensions))
        }
        writer.raw("}")
    }
}

/// Why a text is no GraphQL document, and where.
public struct SyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was expected and what was found, in the words of graphql-js.
    public let message: String
    /// The one location where reading stopped.
    public let locations: [SourceLocation]

    init(_ message: String, at location: SourceLocation) {
        self.message = "Syntax Error: \(message)"
        locations = [location]
    }

    /// The message with its location.
    public var description: String {
        guard let location = locations.first else { return message }
        return "\(message) (line \(location.line), column \(location.column))"
    }
}
