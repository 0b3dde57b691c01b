/// What is wrong with a part of a route's declaration, and what to write instead.
struct RouteProblem: Error {
    let text: String

    init(_ text: String) { self.text = text }
}

/// Everything that is wrong with a file of routes.
package struct RouteProblems: Error, Sendable, CustomStringConvertible {
    /// One sentence each: file, route, what is wrong and what to do.
    package let problems: [String]

    /// All problems with what to do, one a line.
    package var description: String {
        "The routes cannot be served. Correct them, or take the file out of TOCSIN_ROUTES:\n"
            + problems.map { "  - " + $0 }.joined(separator: "\n")
    }
}
