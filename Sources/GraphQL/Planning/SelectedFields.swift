/// What is selected below a field, for resolvers that fetch only what is asked for.
///
/// Below a field of an abstract type it is what is selected of any of its possible types.
public struct SelectedFields: Sendable {
    let request: PreparedRequest
    let selections: [Int]

    init(request: PreparedRequest, selections: [Int]) {
        self.request = request
        self.selections = selections
    }

    /// One selected field.
    public struct SelectedField: Sendable {
        /// The name of the type it belongs to.
        public let typeName: String
        /// Its name in the schema.
        public let name: String
        /// Its name in the response.
        public let responseKey: String
        /// Its arguments; empty when they cannot be coerced, which its own execution will tell.
        public let arguments: Arguments
        /// What is selected below it.
        public let selection: SelectedFields
    }

    /// Whether nothing is selected, as below a leaf.
    public var isEmpty: Bool { selections.allSatisfy { request.fields[$0].isEmpty } }

    /// The selected fields in the order of the response.
    public var fields: [SelectedField] {
        selections.flatMap { number in
            request.fields[number].map { field in
                SelectedField(
                    typeName: request.tree.selections[number].type.name,
                    name: field.field.name,
                    responseKey: field.responseKey,
                    arguments: (try? request.arguments(of: field)) ?? Arguments(),
                    selection: request.selection(of: field)
                )
            }
        }
    }

    /// The names of the selected fields, each once, in the order of the response.
    public var names: [String] {
        var seen: Set<String> = []
        return selections.flatMap { request.fields[$0] }.map(\.field.name).filter { seen.insert($0).inserted }
    }

    /// Whether a field of this name is selected.
    public func contains(_ name: String) -> Bool {
        selections.contains { request.fields[$0].contains { $0.field.name == name } }
    }

    /// What is selected below the fields of this name, or `nil` when none is selected.
    public subscript(name: String) -> SelectedFields? {
        let found = selections.flatMap { request.fields[$0] }.filter { $0.field.name == name }
        guard !found.isEmpty else { return nil }
        let numbers = found.flatMap { request.selection(of: $0).selections }
        return SelectedFields(request: request, selections: Array(Set(numbers)).sorted())
    }
}
