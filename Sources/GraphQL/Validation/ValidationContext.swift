import JSON

/// What every rule can see, and where it reports.
struct ValidationContext {
    let document: Document
    let schema: Schema
    let limits: ValidationLimits
    let suggestions: Suggestions
    let facts: DocumentFacts
    /// The operations, with their numbers among all definitions.
    let operations: [(index: Int, node: OperationDefinition)]
    /// The fragments, with their numbers among all definitions.
    let fragments: [(index: Int, node: FragmentDefinition)]
    /// The number of the fragment of each name; the first where several share it.
    let fragmentIndices: [String: Int]
    private(set) var errors: [GraphQLError] = []
    /// Whether fragments spread each other in a circle, or an operation is larger than allowed; such documents must
    /// not be unfolded.
    var isUnfoldable = true

    init(document: Document, schema: Schema, limits: ValidationLimits, suggestions: Suggestions) {
        self.document = document
        self.schema = schema
        self.limits = limits
        self.suggestions = suggestions
        facts = DocumentWalk(document, schema: schema).facts
        let definitions = document.definitions.enumerated()
        operations = definitions.compactMap { index, definition in
            if case .operation(let node) = definition { (index, node) } else { nil }
        }
        fragments = definitions.compactMap { index, definition in
            if case .fragment(let node) = definition { (index, node) } else { nil }
        }
        fragmentIndices = Dictionary(fragments.map { ($0.node.name, $0.index) }) { first, _ in first }
    }

    var isFull: Bool { errors.count >= limits.maximumErrors }

    mutating func report(_ message: String, _ locations: SourceLocation...) {
        report(message, locations)
    }

    mutating func report(_ message: String, _ locations: [SourceLocation], extensions: JSONObject = [:]) {
        if !isFull { errors.append(GraphQLError(message, locations: locations, extensions: extensions)) }
    }

    /// The number of the fragment a spread names.
    func fragment(of spread: Int) -> Int? { fragmentIndices[facts.spreads[spread].spread.name] }

    /// The definition itself and all fragments it spreads, directly or through others.
    func reachable(from definition: Int) -> [Int] {
        var found = [definition]
        var seen: Set<Int> = [definition]
        var next = 0
        while next < found.count {
            for spread in facts.spreadsByOwner[found[next]] ?? [] {
                if let fragment = fragment(of: spread), seen.insert(fragment).inserted { found.append(fragment) }
            }
            next += 1
        }
        return found
    }

    /// Reports names that were used before: each with the first place, or all places of a name together.
    mutating func reportDuplicates(
        _ names: [(name: String, location: SourceLocation)],
        together: Bool = false,
        _ message: (String) -> String
    ) {
        guard names.count > 1 else { return }
        var places: [String: [SourceLocation]] = [:]
        for (name, location) in names { places[name, default: []].append(location) }
        guard places.count < names.count else { return }
        var reported: Set<String> = []
        for (name, _) in names where reported.insert(name).inserted {
            guard let all = places[name], all.count > 1 else { continue }
            if together {
                report(message(name), all)
            } else {
                for place in all.dropFirst() { report(message(name), all[0], place) }
            }
        }
    }
}
