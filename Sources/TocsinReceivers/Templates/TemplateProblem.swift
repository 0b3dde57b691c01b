/// What is wrong with a part of a template or a route, and what to write instead.
package struct TemplateProblem: Error, Sendable, Equatable {
    /// A sentence without its full stop; it begins with where the mistake is.
    package let text: String

    /// What is wrong and what to write.
    package init(_ text: String) { self.text = text }

    /// The same, told from further outside: `title: …` becomes `rule 2: title: …`.
    package func inside(_ place: String) -> TemplateProblem { TemplateProblem("\(place): \(text)") }
}

/// Adds to a problem where the work that found it stands.
func inside<Value>(
    _ place: String,
    _ work: () throws(TemplateProblem) -> Value
) throws(TemplateProblem) -> Value {
    do throws(TemplateProblem) {
        return try work()
    } catch {
        throw error.inside(place)
    }
}
