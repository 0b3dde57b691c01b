/// Why a request was refused before any resolver ran (GraphQL §7.1.2 "request error").
public struct RequestErrors: Error, Sendable, CustomStringConvertible {
    /// Every reason.
    public let errors: [GraphQLError]
    /// What was refused.
    public let kind: Kind

    /// What was refused.
    public enum Kind: Sendable, Hashable {
        /// The document could not be read.
        case syntax
        /// The document breaks rules of validation.
        case validation
        /// The document has no such operation, or the schema does not serve its kind.
        case operation
        /// The variables do not fit their types.
        case variables
        /// The response would be longer than it may be.
        case size
    }

    /// A refusal for these reasons.
    public init(kind: Kind, errors: [GraphQLError]) {
        self.kind = kind
        self.errors = errors
    }

    /// One line for each error.
    public var description: String { errors.map(\.description).joined(separator: "\n") }
}
