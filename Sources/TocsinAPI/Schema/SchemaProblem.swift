/// Why a schema file stops the start: where, what, and what to write instead.
package struct SchemaProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file's name.
    package var file: String
    /// The line in the file, from 1.
    package var line: Int
    /// What is wrong and what to write instead.
    package var message: String

    /// A problem at a line of a file.
    package init(file: String, line: Int, message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    /// File, line and message, as compilers write them.
    package var description: String { "\(file):\(line): \(message)" }
}

/// All problems of the schema files.
package struct SchemaProblems: Error, Sendable, CustomStringConvertible {
    /// All of them, in the order of the file; never empty.
    package var problems: [SchemaProblem]

    /// Problems that were found by reading the files to their end.
    package init(_ problems: [SchemaProblem]) {
        self.problems = problems
    }

    /// One problem a line.
    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
