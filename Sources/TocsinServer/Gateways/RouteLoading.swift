import GraphQL
import TocsinAPI

/// The routes that are served: those that ship, and the operator's own, which stand
/// in place of shipped ones.
struct RouteLoading {
    let routes: [Route]
    /// Shipped routes that the operator's schema leaves no room for: reasons for the log.
    let warnings: [String]

    private static let shippedFile = "routes.json"

    /// Reads both; a mistake in the operator's own file stops the start.
    init(path: String?, servesDebugRoutes: Bool, executor: ResponseExecutor) throws(RouteProblems) {
        let check: RouteReading.DocumentCheck = { text in Self.faults(of: text, executor) }
        let text = EmbeddedSchema.files.first { $0.name == Self.shippedFile }?.text ?? ""
        let shipped = RouteReading(text, file: Self.shippedFile, check: check)
        var own: [Route] = []
        if let path {
            let text = try Self.contents(of: path)
            let reading = RouteReading(text, file: path, searches: shipped.searches, check: check)
            guard reading.problems.isEmpty else { throw RouteProblems(problems: reading.problems) }
            own = reading.routes
        }
        let taken = Set(own.map(\.key))
        routes = (own + shipped.routes.filter { !taken.contains($0.key) }).filter { servesDebugRoutes || !$0.isDebug }
        warnings = shipped.problems
    }

    /// What is wrong with the operator's file whatever the schema is.
    static func problemsOfForm(_ path: String?) -> [String] {
        guard let path else { return [] }
        do throws(RouteProblems) {
            let text = EmbeddedSchema.files.first { $0.name == shippedFile }?.text ?? ""
            let shipped = RouteReading(text, file: shippedFile) { _ in [] }
            let own = RouteReading(try contents(of: path), file: path, searches: shipped.searches) { _ in [] }
            guard own.problems.isEmpty else { throw RouteProblems(problems: own.problems) }
            return []
        } catch {
            return [error.description]
        }
    }

    private static func faults(of text: String, _ executor: ResponseExecutor) -> [String] {
        do throws(RequestErrors) {
            try executor.check(DocumentText(text))
            return []
        } catch {
            return error.errors.map { error in
                let location =
                    error.locations.first.map { "line \($0.line), column \($0.column) of the document: " } ?? ""
                return location + error.message
            }
        }
    }

    private static func contents(of path: String) throws(RouteProblems) -> String {
        do throws(SystemFile.Failure) {
            return try SystemFile.text(of: path)
        } catch {
            throw RouteProblems(problems: ["\(path) cannot be read: \(error.reason). Mend the path or the file."])
        }
    }
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
