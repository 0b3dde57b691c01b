import GraphQL

/// The path of field names that leads to a place in a document: `getTopic/name`, as AppSync's
/// validation errors print it (`docs/appsync.md`).
struct DocumentPlaces {
    private struct Place {
        var start: SourceLocation
        var name: String
        /// Position of the field or fragment around it.
        var parent: Int?
    }

    private var places: [Place] = []
    /// Positions of the fields in the order of the document.
    private var order: [Int] = []

    /// The places of a document that can be parsed; none of another.
    init(_ text: String) {
        guard let document = try? parse(text) else { return }
        for operation in document.operations { add(operation.selectionSet, under: nil) }
        for fragment in document.fragments {
            places.append(Place(start: fragment.location, name: fragment.name))
            add(fragment.selectionSet, under: places.count - 1)
        }
        order = places.indices.sorted { places[$0].start < places[$1].start }
    }

    /// The path of the field that a place is in or at: the last one that begins no later.
    func path(_ location: SourceLocation) -> String? {
        var names: [String] = []
        var next = order.last { places[$0].start <= location }
        while let position = next {
            names.append(places[position].name)
            next = places[position].parent
        }
        return names.isEmpty ? nil : names.reversed().joined(separator: "/")
    }

    private mutating func add(_ selections: SelectionSet?, under parent: Int?) {
        for selection in selections?.selections ?? [] {
            switch selection {
            case .field(let field):
                places.append(Place(start: field.location, name: field.name, parent: parent))
                add(field.selectionSet, under: places.count - 1)
            case .inlineFragment(let fragment): add(fragment.selectionSet, under: parent)
            case .fragmentSpread: continue
            }
        }
    }
}
