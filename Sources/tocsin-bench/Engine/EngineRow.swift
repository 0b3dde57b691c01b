/// What is measured of the engine and its peers.
///
/// The raw values are the names that `scripts/peers/README.md` gives them.
enum EngineRow: String, CaseIterable {
    case parseOperations = "parse-operations"
    case parseSchema = "parse-schema"
    case parseQuery = "parse-query"
    case validateQuery = "validate-query"
    case parseAndValidate = "parse-and-validate"
    case execute20 = "execute-20"
    case execute200 = "execute-200"
    case planCacheHit = "plan-cache-hit"
    case introspection
    case wholeRequest = "whole-request"

    /// What it says above its lines.
    var title: String {
        switch self {
        case .parseOperations: "parse a large document of mixed operations into the full tree"
        case .parseSchema: "parse a large document of definitions (SDL) into the full tree"
        case .parseQuery: "parse the typical query"
        case .validateQuery: "validate the typical query, parsed before"
        case .parseAndValidate: "parse and validate the typical query"
        case .execute20: "execute its cached plan to JSON, 20 rows of 6 fields"
        case .execute200: "the same with 200 rows"
        case .planCacheHit: "find its plan in the cache by its text"
        case .introspection: "execute the cached plan of the introspection query"
        case .wholeRequest: "the whole request: parse, validate, plan, execute 20 rows, JSON"
        }
    }

    /// The document whose bytes make this row's rate a rate of bytes.
    var document: String? {
        switch self {
        case .parseOperations: EngineDocuments.largeOperationsFile
        case .parseSchema: EngineDocuments.largeSchemaFile
        default: nil
        }
    }

    /// Whether it is nothing but parsing.
    var isParsing: Bool { self == .parseOperations || self == .parseSchema || self == .parseQuery }

    /// Whether peers can do it too.
    var hasPeers: Bool { self != .planCacheHit }

    /// What our engine does beside it for comparison.
    var floors: [EngineFloor] {
        switch self {
        case .parseOperations: [.checkedText]
        case .execute20: [.source20, .byHand20]
        case .execute200: [.source200, .byHand200]
        case .planCacheHit: [.dictionaryHit]
        default: []
        }
    }

    /// What the project has set itself.
    var target: Target? {
        switch self {
        case .parseOperations: .megabytesPerSecond(330)
        case .parseAndValidate: .microseconds(15)
        case .execute20: .microsecondsBeyond(6, .source20)
        default: nil
        }
    }

    /// A figure to reach.
    enum Target {
        case megabytesPerSecond(Double)
        case microseconds(Double)
        case microsecondsBeyond(Double, EngineFloor)
    }
}

/// The least that a row can cost.
enum EngineFloor: String, CaseIterable {
    case checkedText = "checked-text"
    case source20 = "source-20"
    case source200 = "source-200"
    case byHand20 = "by-hand-20"
    case byHand200 = "by-hand-200"
    case dictionaryHit = "dictionary-hit"

    /// What it says in its line.
    var title: String {
        switch self {
        case .checkedText: "floor: the same bytes checked as UTF-8 by the standard library"
        case .source20, .source200: "floor: the source of rows alone"
        case .byHand20, .byHand200: "floor: the same bytes by hand with the engine's JSON writer"
        case .dictionaryHit: "floor: the text looked up in a dictionary"
        }
    }
}
