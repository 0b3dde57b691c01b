import GraphQL
import HTTPTypes
package import JSON
import TocsinAuth
package import TocsinCore
import TocsinReceivers

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
    let answer: Template
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

    init(_ text: String) throws(TemplateProblem) {
        let document: Document
        do throws(SyntaxError) {
            document = try parse(text)
        } catch {
            let location = error.locations.first.map { " (line \($0.line), column \($0.column) of the document)" } ?? ""
            throw TemplateProblem("\(error.message)\(location)")
        }
        guard document.operations.count == 1, let operation = document.operations.first else {
            throw TemplateProblem("the document must have one operation; it has \(document.operations.count)")
        }
        guard operation.kind != .subscription else {
            throw TemplateProblem("a subscription cannot be answered once. Write a query or a mutation")
        }
        self.operation = operation
    }

    /// What is wrong with a place of the answer; nil when the data may have it.
    func problem(with place: TemplatePlace, list: TemplatePlaceholder?) -> String? {
        switch place.root {
        case .group, .body: return nil
        case .variable(let name):
            let isDeclared = operation.variables.contains { $0.name == name }
            return isDeclared ? nil : "the answer names $\(name), which the document does not declare"
        case .document:
            return selects(place.keys) ? nil : "the document does not select {\(place.keys.joined(separator: "."))}"
        case .item:
            let shown = "{.\(place.keys.joined(separator: "."))}"
            guard let items = list?.onlyPlace else { return "\(shown) stands outside of a list's \"give\"" }
            guard items.root == .document else { return nil }
            let whole = items.keys + place.keys
            return selects(whole)
                ? nil : "the document does not select \(whole.joined(separator: ".")) for \(shown)"
        }
    }

    /// Whether a path of response keys may lead somewhere; fragments are taken to
    /// hold what is looked for.
    private func selects(_ path: [String]) -> Bool {
        var selections = operation.selectionSet
        // What counts an item of a list is no field.
        let path = path.filter { Int($0) == nil }
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
        var scope = TemplateScope(sha256: Digest.sha256)
        scope.groups["caller"] = ["userId": .string(caller.userID.text), "username": .string(caller.username)]
        for variable in variables where variable.value == nil {
            let value = try await variable.value(in: input, caller: caller, run: run)
            if let value { scope.variables[variable.name] = value }
        }
        if let lookup {
            // A document may be given no variables but its own.
            let asked = scope.variables.filter { lookupVariables.contains($0.key) }
            scope.document = try await run(lookup, JSONObject(asked.map { ($0.key, $0.value) }))
        }
        var filling = TemplateRun(scope)
        for variable in variables {
            if let value = variable.value { filling.scope.variables[variable.name] = filling.fill(value) }
        }
        filling.scope.document = try await run(document, filling.scope.variables)
        return filling.fill(answer)
    }
}
