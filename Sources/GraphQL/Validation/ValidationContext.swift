import JSON

/// What every rule can see, and where it reports.
struct ValidationContext {
    let root: NodeView
    let schema: Schema
    let index: SchemaIndex
    let limits: ValidationLimits
    let suggestions: Suggestions
    let facts: DocumentFacts
    private(set) var errors: [GraphQLError] = []
    /// Whether no fragments spread each other in a circle and no operation is larger than allowed;
    /// other documents must not be unfolded.
    var isUnfoldable = true
    /// Kept, because it knows where the lines of the document begin.
    private var builder: NodeBuilder

    init(_ root: NodeView, _ schema: Schema, _ limits: ValidationLimits, _ suggestions: Suggestions) {
        self.root = root
        self.schema = schema
        self.limits = limits
        self.suggestions = suggestions
        index = schema.index
        facts = DocumentWalk(root, schema.index).facts
        builder = NodeBuilder(root.bytes)
    }

    var isFull: Bool { errors.count >= limits.maximumErrors }

    /// Reports a mistake at some bytes of the source.
    mutating func report(_ message: String, _ offsets: Int...) {
        report(message, offsets)
    }

    mutating func report(_ message: String, _ offsets: [Int], extensions: JSONObject = [:]) {
        guard !isFull else { return }
        let locations = offsets.map { builder.location($0) }
        errors.append(GraphQLError(message, locations: locations, extensions: extensions))
    }

    /// A value as coercion reads it.
    mutating func value(_ node: NodeView) -> Value { builder.value(node) }

    /// A value as errors write it.
    mutating func written(_ node: NodeView) -> String { printValue(value(node)) }

    func written(_ type: ReferenceNumber) -> TypeReference { index.writtenReferences[Int(type.value)] }

    func object(_ type: TypeNumber) -> Schema.NamedType { schema.types[Int(type.value)] }

    func object(_ field: FieldNumber) -> Schema.Field { index.fieldObjects[Int(field.value)] }

    func name(_ input: InputNumber) -> String { index.inputNames[Int(input.value)] }

    /// The names of a directive's or field's arguments, or of an input object's fields.
    func names(_ inputs: Range<Int32>) -> ArraySlice<String> {
        index.inputNames[Int(inputs.lowerBound)..<Int(inputs.upperBound)]
    }

    /// The end of a message that tells the operation: `by operation "Name".`, if it has a name.
    func ending(_ word: StaticString, _ operation: NodeView) -> String {
        operation.text.isEmpty ? "." : " \(word) operation \"\(operation.name)\"."
    }

    /// The definition itself and all fragments it spreads, directly or through others.
    func reachable(from definition: Int) -> [Int] {
        var found = [definition]
        guard !facts.definitions[definition].spreads.isEmpty else { return found }
        var isFound = [Bool](repeating: false, count: facts.definitions.count)
        isFound[definition] = true
        var next = 0
        while next < found.count {
            for spread in facts.definitions[found[next]].spreads {
                guard let fragment = facts.spreads[spread].fragment, !isFound[fragment] else { continue }
                isFound[fragment] = true
                found.append(fragment)
            }
            next += 1
        }
        return found
    }

    /// Reports names used before by nodes of one kind below another.
    mutating func reportDuplicates(
        _ parent: NodeView,
        _ kind: SyntaxNode.Kind,
        together: Bool = false,
        _ message: (String) -> String
    ) {
        var count = 0
        for child in parent.children where child.kind == kind { count += 1 }
        guard count > 1 else { return }
        let names = parent.children(kind).map { (name: $0.text, offset: $0.textStart) }
        reportDuplicates(names, together: together, message)
    }

    /// Reports names that were used before: each with the first offset, or all offsets of a name
    /// together.
    mutating func reportDuplicates(
        _ names: [(name: NameSlice, offset: Int)],
        together: Bool = false,
        _ message: (String) -> String
    ) {
        guard names.count > 1 else { return }
        var list = NameList()
        for name in names { list.insert(name.name) }
        guard list.names.count < names.count else { return }
        var offsets = [[Int]](repeating: [], count: list.names.count)
        for name in names { list.position(of: name.name).map { offsets[$0].append(name.offset) } }
        for (name, all) in zip(list.names, offsets) where all.count > 1 {
            if together {
                report(message(name.string), all)
            } else {
                for offset in all.dropFirst() { report(message(name.string), all[0], offset) }
            }
        }
    }
}
