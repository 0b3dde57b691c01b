import GraphQL
import Testing

/// The schema all tests of rules share, which is written in `PetSchema.swift`.
private let schema = Result { try Schema(sdl: petSchema) }

/// Expects that a document keeps all rules.
func expectValid(_ document: String, sourceLocation: Testing.SourceLocation = #_sourceLocation) throws {
    try expectErrors([], in: document, sourceLocation: sourceLocation)
}

/// Expects these errors of a document, each written as its message and, in brackets, its lines and columns.
func expectErrors(
    _ expected: [String],
    in document: String,
    limits: ValidationLimits = .specification,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) throws {
    let errors = validate(try parse(document, limits: .unlimited), against: try schema.get(), limits: limits)
    let found = errors.map { error in
        let places = error.locations.map { "\($0.line):\($0.column)" }.joined(separator: ", ")
        return places.isEmpty ? error.message : "\(error.message) (\(places))"
    }
    #expect(found == expected, sourceLocation: sourceLocation)
}
