/// Why a schema file stops the start: where, what, and what to write instead.
package struct SchemaProblem: Error, Sendable, Hashable, CustomStringConvertible {
    package var file: String
    package var line: Int
    package var message: String

    package init(file: String, line: Int, message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    package var description: String { "\(file):\(line): \(message)" }
}

/// All problems of the schema files.
package struct SchemaProblems: Error, Sendable, CustomStringConvertible {
    package var problems: [SchemaProblem]

    package init(_ problems: [SchemaProblem]) {
        self.problems = problems
    }

    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
