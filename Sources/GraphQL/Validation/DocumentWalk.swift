/// The walk that finds the facts.
struct DocumentWalk {
    private let index: SchemaIndex
    private(set) var facts = DocumentFacts()

    init(_ root: NodeView, _ index: SchemaIndex) {
        self.index = index
        facts.usesByNode = [Int32](repeating: 0, count: root.next)
        facts.fields.reserveCapacity(root.next / 4 + 8)
        for node in root.children where node.kind == .operation || node.kind == .fragmentDefinition {
            walk(definition: node)
        }
        findFragments()
    }

    private mutating func walk(definition node: NodeView) {
        let (spreads, variables) = (facts.spreads.count, facts.variables.count)
        if node.kind == .operation {
            facts.operations.append(facts.definitions.count)
            walk(operation: node)
        } else {
            facts.fragments.append(facts.definitions.count)
            walkDirectives(of: node, at: .fragmentDefinition)
            if let set = node.selectionSet { walk(set, of: composite(node.typeNode.text)) }
        }
        facts.definitions.append(
            DocumentFacts.Definition(
                node: node,
                spreads: spreads..<facts.spreads.count,
                variables: variables..<facts.variables.count
            )
        )
    }

    private mutating func walk(operation node: NodeView) {
        for variable in node.children where variable.kind == .variableDefinition {
            if let value = variable.defaultValue {
                facts.defaults.append((value, variable.typeNode))
                walk(value, type: nil, hasDefault: false)
            }
            walkDirectives(of: variable, at: .variableDefinition)
        }
        let kind = node.flags.operationKind
        walkDirectives(of: node, at: kind.directiveLocation)
        if let set = node.selectionSet { walk(set, of: index.rootType(of: kind)) }
    }

    private func composite(_ name: NameSlice) -> TypeNumber? {
        index.type(named: name).flatMap { index[$0].isComposite ? $0 : nil }
    }

    private mutating func walk(_ set: NodeView, of parent: TypeNumber?) {
        for node in set.children {
            switch node.kind {
            case .field: walk(field: node, of: parent)
            case .fragmentSpread:
                facts.usesByNode[node.index] = Int32(truncatingIfNeeded: facts.spreads.count)
                facts.spreads.append(DocumentFacts.SpreadUse(node: node, parent: parent))
                walkDirectives(of: node, at: .fragmentSpread)
            default:
                let type = node.text.isEmpty ? parent : composite(node.text)
                facts.inlineFragments.append(DocumentFacts.InlineUse(node: node, parent: parent, type: type))
                walkDirectives(of: node, at: .inlineFragment)
                if let set = node.selectionSet { walk(set, of: type) }
            }
        }
    }

    private mutating func walk(field node: NodeView, of parent: TypeNumber?) {
        let definition = parent.flatMap { index.field(named: node.text, of: $0) }
        let number = facts.fields.count
        facts.usesByNode[node.index] = Int32(truncatingIfNeeded: number)
        facts.fields.append(DocumentFacts.FieldUse(node: node, parent: parent, definition: definition))
        let definitions = definition.map { index[$0].arguments } ?? 0..<0
        let isBare = node.next == node.index + 1
        if isBare, definitions.isEmpty { return }
        walkArguments(
            DocumentFacts.ArgumentListUse(
                node: node,
                target: definition.map { .field($0) },
                definitions: definitions
            )
        )
        if isBare { return }
        walkDirectives(of: node, at: .field)
        guard let set = node.selectionSet else { return }
        facts.fields[number].selectionSet = set
        let type = definition.flatMap { index[$0].namedType }
        walk(set, of: type.flatMap { index[$0].isComposite ? $0 : nil })
    }

    private mutating func walkDirectives(of owner: NodeView, at location: DirectiveLocation) {
        let start = facts.directives.count
        for node in owner.children where node.kind == .directive {
            let definition = index.directive(named: node.text)
            facts.directives.append(
                DocumentFacts.DirectiveUse(node: node, definition: definition, location: location)
            )
            walkArguments(
                DocumentFacts.ArgumentListUse(
                    node: node,
                    target: definition.map { .directive($0) },
                    definitions: definition.map { index[$0].arguments } ?? 0..<0
                )
            )
        }
        if facts.directives.count > start { facts.directiveLists.append(start..<facts.directives.count) }
    }

    private mutating func walkArguments(_ list: DocumentFacts.ArgumentListUse) {
        var hasArguments = false
        for node in list.node.children where node.kind == .argument {
            hasArguments = true
            let definition = index.argument(named: node.text, of: list.target)
            if let definition {
                facts.values.append(DocumentFacts.ValueUse(node: node.value, type: index[definition].type))
            }
            let type = definition.map { index[$0].type }
            walk(node.value, type: type, hasDefault: definition.map { index[$0].hasDefault } ?? false)
        }
        if hasArguments || !list.definitions.isEmpty { facts.argumentLists.append(list) }
    }

    /// Knows the fragment of each spread; the first where several share a name.
    private mutating func findFragments() {
        guard !facts.spreads.isEmpty else { return }
        var names = NameList()
        var numbers: [Int] = []
        for number in facts.fragments {
            let (position, isNew) = names.insert(facts.definitions[number].node.text)
            if isNew { numbers.append(number) }
            facts.definitions[number].namesake = numbers[position]
        }
        for spread in facts.spreads.indices {
            facts.spreads[spread].fragment = names.position(of: facts.spreads[spread].node.text).map { numbers[$0] }
        }
    }
}

// Values.
extension DocumentWalk {
    /// Finds the variables and objects inside a value.
    private mutating func walk(
        _ value: NodeView,
        type: ReferenceNumber?,
        isNullable: Bool = false,
        hasDefault: Bool,
        oneOf: TypeNumber? = nil
    ) {
        switch value.kind {
        case .variable:
            facts.variables.append(
                DocumentFacts.VariableUse(
                    node: value,
                    type: type,
                    isNullable: isNullable,
                    hasDefault: hasDefault,
                    oneOf: oneOf
                )
            )
        case .list:
            // Where no list belongs, its items stand in the place of the
            // list, as for custom scalars.
            let element = type.flatMap { index[$0].element }
            for item in value.children {
                walk(item, type: element ?? type, isNullable: element == nil, hasDefault: false)
            }
        case .object:
            facts.objects.append(value)
            // Where a list belongs, the object stands for a list of one.
            walk(fieldsOf: value, type: type.flatMap { index[$0].namedType })
        default: break
        }
    }

    private mutating func walk(fieldsOf object: NodeView, type: TypeNumber?) {
        let isOneOf = type.map { index[$0].isOneOf } ?? false
        let isSingle = object[object.index + 1].index < object.next && object[object.index + 1].next == object.next
        for field in object.children {
            let definition = type.flatMap { index.inputField(named: field.text, of: $0) }
            walk(
                field.value,
                type: definition.map { index[$0].type },
                hasDefault: definition.map { index[$0].hasDefault } ?? false,
                oneOf: isOneOf && isSingle ? type : nil
            )
        }
    }
}

extension SchemaIndex {
    /// The argument of a field or directive, if that is known and has one of the name.
    func argument(named name: NameSlice, of target: DocumentFacts.ArgumentListUse.Target?) -> InputNumber? {
        switch target {
        case .field(let field): argument(named: name, of: field)
        case .directive(let directive): argument(named: name, of: directive)
        case nil: nil
        }
    }
}

extension OperationKind {
    /// Where the directives of such an operation stand.
    var directiveLocation: DirectiveLocation {
        switch self {
        case .query: .query
        case .mutation: .mutation
        case .subscription: .subscription
        }
    }
}
