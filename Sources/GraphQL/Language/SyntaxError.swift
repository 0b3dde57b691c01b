/// Why a text is no GraphQL document, and where.
public struct SyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was expected and what was found, in the words of graphql-js.
    public let message: String
    /// The one place where reading stopped.
    public let locations: [SourceLocation]

    init(_ message: String, at location: SourceLocation) {
        self.message = "Syntax Error: \(message)"
        locations = [location]
    }

    /// The message with its place.
    public var description: String {
        guard let location = locations.first else { return message }
        return "\(message) (line \(location.line), column \(location.column))"
    }
}
