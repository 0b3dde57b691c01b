import GraphQL

/// The path of field names that leads to a location in a document: `getTopic/name`, as AppSync's
/// validation errors print it (`docs/appsync.md`).
struct DocumentPaths {
    private struct Node {
        var start: SourceLocation
        var name: String
        /// Index of the field or fragment around it.
        var parent: Int?
    }

    private var nodes: [Node] = []
    /// Indices of the fields in the order of the document.
    private var order: [Int] = []

    /// The paths of a document that can be parsed; none of another.
    init(_ text: String) {
        guard let document = try? parse(text) else { return }
        for operation in document.operations { add(operation.selectionSet, under: nil) }
        for fragment in document.fragments {
            nodes.append(Node(start: fragment.location, name: fragment.name))
            add(fragment.selectionSet, under: nodes.count - 1)
        }
        order = nodes.indices.sorted { nodes[$0].start < nodes[$1].start }
    }

    /// The path of the field that a location is in or at: the last one that begins no later.
    func path(_ location: SourceLocation) -> String? {
        var names: [String] = []
        var next = order.last { nodes[$0].start <= location }
        while let index = next {
            names.append(nodes[index].name)
            next = nodes[index].parent
        }
        return names.isEmpty ? nil : names.reversed().joined(separator: "/")
    }

    private mutating func add(_ selections: SelectionSet?, under parent: Int?) {
        for selection in selections?.selections ?? [] {
            switch selection {
            case .field(let field):
                nodes.append(Node(start: field.location, name: field.name, parent: parent))
                add(field.selectionSet, under: nodes.count - 1)
            case .inlineFragment(let fragment): add(fragment.selectionSet, under: parent)
            case .fragmentSpread: continue
            }
        }
    }
}
