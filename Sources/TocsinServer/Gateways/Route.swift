import GraphQL
import HTTPTypes
import JSON

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
            let place = error.locations.first.map { " (line \($0.line), column \($0.column) of the document)" } ?? ""
            throw RouteProblem("\(error.message)\(place)")
        }
        guard document.operations.count == 1, let operation = document.operations.first else {
            throw RouteProblem("the document must have one operation; it has \(document.operations.count)")
        }
        guard operation.kind != .subscription else {
            throw RouteProblem("a subscription cannot be answered once. Write a query or a mutation")
        }
        self.operation = operation
    }

    /// What is wrong with a place of the answer; nil when the data may have it.
    func problem(with place: RoutePlace, list: RoutePlace?) -> String? {
        switch place {
        case .caller: return nil
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

    /// Whether a path of response keys may lead somewhere; fragments are taken to hold what is looked for.
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
