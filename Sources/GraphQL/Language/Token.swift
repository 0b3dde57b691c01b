/// A lexical token: its kind and its place; the text stays in the source.
struct Token {
    var kind: Kind
    /// The first byte.
    var start: Int
    /// The byte after the last.
    var end: Int
    var location: SourceLocation

    /// GraphQL §2.1.6; the raw value is how graphql-js names the kind in errors.
    enum Kind: String {
        case startOfFile = "<SOF>"
        case endOfFile = "<EOF>"
        case bang = "!"
        case dollar = "$"
        case ampersand = "&"
        case openParenthesis = "("
        case closeParenthesis = ")"
        case spread = "..."
        case colon = ":"
        case equals = "="
        case at = "@"
        case openBracket = "["
        case closeBracket = "]"
        case openBrace = "{"
        case pipe = "|"
        case closeBrace = "}"
        case name = "Name"
        case int = "Int"
        case float = "Float"
        case string = "String"
        case blockString = "BlockString"

        /// The kind as errors name it: punctuation stands in quotes.
        var description: String {
            switch self {
            case .startOfFile, .endOfFile, .name, .int, .float, .string, .blockString: rawValue
            default: "\"\(rawValue)\""
            }
        }
    }
}
