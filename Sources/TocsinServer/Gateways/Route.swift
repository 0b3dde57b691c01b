import GraphQL
import HTTPTypes
package import JSON
package import TocsinCore

/// One path of an older app's, served by a GraphQL document.
package struct Route: Sendable {
    /// The method, in upper case.
    package let method: String
    /// The path, from the first slash on; a slash at its end makes no difference.
    package let path: String
    /// The document's text: one query or mutation.
    package let document: String
    /// A query that is run before, whose data variables may take values from.
    package let lookup: String?
    /// Whether it is served only where routes for trying things out are.
    package let isDebug: Bool
    let lookupVariables: Set<String>
    let variables: [RouteVariable]
    let answer: RouteTemplate
    /// The status of an answer without errors.
    let status: HTTPResponse.Status

    /// Every document that it runs.
    var documents: [String] {
        [document] + [lookup].compactMap(\.self) + variables.flatMap { $0.search?.steps.map(\.document) ?? [] }
    }

    /// What no other route may have: a slash at the end makes no difference.
    package var key: String { method + " " + Self.stem(of: path) }

    static func stem(of path: String) -> String { path.hasSuffix("/") ? String(path.dropLast()) : path }
}

/// What a route's declaration must fit: its document, parsed.
struct RouteDocument {
    let operation: OperationDefinition

    init(_ text: String) throws(RouteProblem) {
        let document: Document
        do throws(SyntaxError) {
            document = try parse(text)
        } catch {
            let location = error.locations.first.map { " (line \($0.line), column \($0.column) of the document)" } ?? ""
            throw RouteProblem("\(error.message)\(location)")
        }
        guard document.operations.count == 1, let operation = document.operations.first else {
            throw RouteProblem("the document must have one operation; it has \(document.operations.count)")
        }
        guard operation.kind != .subscription else {
            throw RouteProblem("a subscription cannot be answered once. Write a query or a mutation")
        }
        self.operation = operation
    }

    /// What is wrong with a placeholder of the answer; nil when the data may have it.
    func problem(with placeholder: RoutePlaceholder, list: RoutePlaceholder?) -> String? {
        switch placeholder {
        case .caller: return nil
        case .first(let wanted, let other): return problem(with: wanted, list: list) ?? problem(with: other, list: list)
        case .variable(let name):
            let isDeclared = operation.variables.contains { $0.name == name }
            return isDeclared ? nil : "the answer names $\(name), which the document does not declare"
        case .data(let path):
            return selects(path) ? nil : "the document does not select {\(path.joined(separator: "."))}"
        case .item(let path):
            let shown = "{.\(path.joined(separator: "."))}"
            switch list {
            case .data(let items)?:
                let whole = (items + path).joined(separator: ".")
                return selects(items + path) ? nil : "the document does not select \(whole) for \(shown)"
            case .item?: return nil
            default: return "\(shown) stands outside of a list's \"give\""
            }
        }
    }

    /// Whether a path of response keys may lead somewhere; fragments are taken to
    /// hold what is looked for.
    private func selects(_ path: [String]) -> Bool {
        var selections = operation.selectionSet
        for (index, key) in path.enumerated() {
            var next: SelectionSet?
            var isFound = false
            for selection in selections.selections {
                switch selection {
                case .fragmentSpread, .inlineFragment: return true
                case .field(let field) where field.responseKey == key:
                    isFound = true
                    next = next ?? field.selectionSet
                case .field: continue
                }
            }
            guard isFound else { return false }
            guard index < path.count - 1 else { return true }
            guard let inner = next else { return false }
            selections = inner
        }
        return true
    }
}

extension Route {
    /// Runs a document with variables for the caller, and answers its data.
    package typealias Run = (_ document: String, _ variables: JSONObject) async throws(RouteFault) -> JSONValue

    /// What a request is answered: its members become variables, the documents run, and
    /// their data fills the answer.
    package func answer(
        to input: RouteInput,
        caller: Identity,
        run: Run
    ) async throws(RouteFault) -> JSONValue {
        var scope = RouteScope(caller: caller)
        for variable in variables where variable.value == nil {
            let value = try await variable.value(in: input, caller: caller, run: run)
            if let value { scope.variables[variable.name] = value }
        }
        if let lookup {
            // A document may be given no variables but its own.
            let asked = scope.variables.filter { lookupVariables.contains($0.key) }
            scope.data = try await run(lookup, JSONObject(asked.map { ($0.key, $0.value) }))
        }
        for variable in variables {
            if let value = variable.value { scope.variables[variable.name] = value.filled(scope) }
        }
        scope.data = try await run(document, scope.variables)
        return answer.filled(scope)
    }
}
