/// The kind of a lexical token (GraphQL §2.1.6); a punctuator's code is its character.
struct Token: Equatable {
    let code: UInt8

    static let startOfFile = Token(code: 0)
    static let endOfFile = Token(code: 1)
    static let name = Token(code: 2)
    static let int = Token(code: 3)
    static let float = Token(code: 4)
    static let string = Token(code: 5)
    static let blockString = Token(code: 6)
    static let spread = Token(code: 7)
    static let bang = Token(code: UInt8(ascii: "!"))
    static let dollar = Token(code: UInt8(ascii: "$"))
    static let ampersand = Token(code: UInt8(ascii: "&"))
    static let openParenthesis = Token(code: UInt8(ascii: "("))
    static let closeParenthesis = Token(code: UInt8(ascii: ")"))
    static let colon = Token(code: UInt8(ascii: ":"))
    static let equals = Token(code: UInt8(ascii: "="))
    static let at = Token(code: UInt8(ascii: "@"))
    static let openBracket = Token(code: UInt8(ascii: "["))
    static let closeBracket = Token(code: UInt8(ascii: "]"))
    static let openBrace = Token(code: UInt8(ascii: "{"))
    static let pipe = Token(code: UInt8(ascii: "|"))
    static let closeBrace = Token(code: UInt8(ascii: "}"))

    /// The kind as errors name it, in graphql-js' words: punctuation stands in quotes.
    var description: String {
        switch self {
        case .startOfFile: "<SOF>"
        case .endOfFile: "<EOF>"
        case .name: "Name"
        case .int: "Int"
        case .float: "Float"
        case .string: "String"
        case .blockString: "BlockString"
        case .spread: "\"...\""
        default: "\"\(Unicode.Scalar(code))\""
        }
    }
}
