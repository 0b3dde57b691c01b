package import JSON
package import TocsinCore

extension Route {
    /// Runs a document with variables for the caller, and answers its data.
    package typealias Run = (_ document: String, _ variables: JSONObject) async throws(RouteFault) -> JSONValue

    /// What a request is answered: its members become variables, the documents run, and their data fills the answer.
    package func answer(
        to input: RouteInput,
        caller: Identity,
        run: Run
    ) async throws(RouteFault) -> JSONValue {
        var scope = RouteScope(caller: caller)
        for variable in variables where variable.value == nil {
            if let value = try await variable.value(in: input, run: run) { scope.variables[variable.name] = value }
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
