package import TocsinAPI

/// Reads the model file, or takes the one in the binary.
package enum SchemaLoading {
    /// The API of the model at this path; nil: the model that ships.
    package static func load(path: String?) throws(SchemaProblems) -> APISchema {
        guard let path else { return try APISchema() }
        let text: String
        do throws(SystemFile.Failure) {
            text = try SystemFile.text(of: path)
        } catch {
            throw SchemaProblems([
                SchemaProblem(
                    file: path,
                    line: 1,
                    message: "The schema file cannot be read: \(error.reason)."
                )
            ])
        }
        return try APISchema(modelText: text, modelFile: path)
    }
}
