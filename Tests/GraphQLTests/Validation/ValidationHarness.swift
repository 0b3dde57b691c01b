import GraphQL
import Testing

/// The schema all tests of rules share, which is written in `PetSchema.swift`.
private let schema = Result { try Schema(sdl: petSchema) }

/// Expects that a document keeps all rules.
func expectValid(_ document: String, sourceLocation: Testing.SourceLocation = #_sourceLocation) throws {
    try expectErrors([], in: document, sourceLocation: sourceLocation)
}

/// Expects these errors of a document, each written as its message and, in brackets, its lines and
/// columns; what messages suggest is a matter of its own.
func expectErrors(
    _ expected: [String],
    in document: String,
    limits: ValidationLimits = .specification,
    suggests: Bool = false,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) throws {
    let parsed = try parse(document, limits: .unlimited)
    let errors = validate(parsed, against: try schema.get(), limits: limits, suggests: suggests)
    let found = errors.map { error in
        let locations = error.locations.map { "\($0.line):\($0.column)" }.joined(separator: ", ")
        return locations.isEmpty ? error.message : "\(error.message) (\(locations))"
    }
    #expect(found == expected, sourceLocation: sourceLocation)
}
