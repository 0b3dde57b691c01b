import GraphQL

/// The path of field names that leads to a place in a document: `getTopic/name` (appsync.md 2.3).
struct DocumentPlaces {
    private var fields: [(start: SourceLocation, path: String)] = []

    /// The places of a document that can be parsed; none of another.
    init(_ text: String) {
        guard let document = try? parse(text) else { return }
        for operation in document.operations { add(operation.selectionSet, under: "") }
        for fragment in document.fragments { add(fragment.selectionSet, under: fragment.name) }
        fields.sort { $0.start < $1.start }
    }

    /// The field that a place is in or at: the last one that begins no later.
    func path(_ location: SourceLocation) -> String? {
        fields.last { $0.start <= location }?.path
    }

    private mutating func add(_ selections: SelectionSet?, under path: String) {
        for selection in selections?.selections ?? [] {
            switch selection {
            case .field(let field):
                let own = path.isEmpty ? field.name : path + "/" + field.name
                fields.append((field.location, own))
                add(field.selectionSet, under: own)
            case .inlineFragment(let fragment): add(fragment.selectionSet, under: path)
            case .fragmentSpread: continue
            }
        }
    }
}
