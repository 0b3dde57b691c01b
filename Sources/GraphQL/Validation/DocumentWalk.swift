/// The walk that finds the facts.
struct DocumentWalk {
    let schema: Schema
    private(set) var facts = DocumentFacts()
    /// The number of the definition being walked.
    private var owner = 0

    init(_ document: Document, schema: Schema) {
        self.schema = schema
        for (index, definition) in document.definitions.enumerated() {
            owner = index
            switch definition {
            case .operation(let operation): walk(operation)
            case .fragment(let fragment): walk(fragment)
            default: break
            }
        }
    }

    private mutating func walk(_ operation: OperationDefinition) {
        for variable in operation.variables {
            if let value = variable.defaultValue {
                facts.values.append(DocumentFacts.ValueUse(value: value, type: variable.type))
                walk(value, type: variable.type, hasDefault: false)
            }
            walk(variable.directives, at: .variableDefinition)
        }
        walk(operation.directives, at: DirectiveLocation(rawValue: operation.kind.rawValue.uppercased()) ?? .query)
        facts.roots[owner] = walk(operation.selectionSet, of: schema.rootType(of: operation.kind))
    }

    private mutating func walk(_ fragment: FragmentDefinition) {
        walk(fragment.directives, at: .fragmentDefinition)
        facts.roots[owner] = walk(fragment.selectionSet, of: composite(fragment.typeCondition))
    }

    private func composite(_ name: String) -> Schema.NamedType? {
        schema.type(named: name).flatMap { $0.isComposite ? $0 : nil }
    }

    private mutating func walk(_ set: SelectionSet, of parent: Schema.NamedType?) -> Int {
        let number = facts.selections.count
        facts.selections.append([])
        var items: [DocumentFacts.Item] = []
        items.reserveCapacity(set.selections.count)
        for selection in set.selections {
            switch selection {
            case .field(let field): items.append(.field(walk(field, of: parent)))
            case .fragmentSpread(let spread):
                walk(spread.directives, at: .fragmentSpread)
                let index = facts.spreads.count
                facts.spreadsByOwner[owner, default: []].append(index)
                facts.spreads.append(DocumentFacts.SpreadUse(spread: spread, parent: parent, owner: owner))
                items.append(.spread(index))
            case .inlineFragment(let fragment): items.append(walk(fragment, of: parent))
            }
        }
        facts.selections[number] = items
        return number
    }

    private mutating func walk(_ fragment: InlineFragment, of parent: Schema.NamedType?) -> DocumentFacts.Item {
        let type = fragment.typeCondition.map(composite) ?? parent
        facts.inlineFragments.append(DocumentFacts.InlineUse(fragment: fragment, parent: parent, type: type))
        walk(fragment.directives, at: .inlineFragment)
        return .inline(selection: walk(fragment.selectionSet, of: type), directives: fragment.directives)
    }

    private mutating func walk(_ field: Field, of parent: Schema.NamedType?) -> Int {
        let definition = parent.flatMap { schema.selectableField(named: field.name, of: $0) }
        let number = facts.fields.count
        facts.fields.append(DocumentFacts.FieldUse(field: field, parent: parent, definition: definition))
        walk(
            DocumentFacts.ArgumentListUse(
                nodes: field.arguments,
                target: definition.map { .field($0) },
                definitions: definition?.arguments ?? [],
                location: field.location
            )
        )
        walk(field.directives, at: .field)
        if let set = field.selectionSet {
            facts.fields[number].selection = walk(set, of: definition.flatMap { composite($0.type.namedType) })
        }
        return number
    }

    private mutating func walk(_ directives: [Directive], at location: DirectiveLocation) {
        guard !directives.isEmpty else { return }
        facts.directiveLists.append(DocumentFacts.DirectiveListUse(directives: directives, location: location))
        for directive in directives {
            let definition = schema.directive(named: directive.name)
            walk(
                DocumentFacts.ArgumentListUse(
                    nodes: directive.arguments,
                    target: definition.map { .directive($0.name) },
                    definitions: definition?.arguments.map(Schema.InputValue.init) ?? [],
                    location: directive.location
                )
            )
        }
    }

    private mutating func walk(_ list: DocumentFacts.ArgumentListUse) {
        guard !list.nodes.isEmpty || !list.definitions.isEmpty else { return }
        facts.argumentLists.append(list)
        for node in list.nodes {
            let definition = list.definitions.first { $0.name == node.name }
            if let definition { facts.values.append(DocumentFacts.ValueUse(value: node.value, type: definition.type)) }
            walk(node.value, type: definition?.type, hasDefault: definition?.defaultValue != nil)
        }
    }

    /// Finds the variables and objects inside a value.
    private mutating func walk(_ value: Value, type: TypeReference?, hasDefault: Bool, oneOf: String? = nil) {
        switch value.kind {
        case .variable(let name):
            facts.variablesByOwner[owner, default: []].append(facts.variables.count)
            facts.variables.append(
                DocumentFacts.VariableUse(
                    name: name,
                    location: value.location,
                    type: type,
                    hasDefault: hasDefault,
                    oneOf: oneOf,
                    owner: owner
                )
            )
        case .list(let values):
            // Where no list belongs, its items stand in the place of the list, as for custom scalars.
            let element = type.map { $0.element ?? $0.nullable }
            for item in values { walk(item, type: element, hasDefault: false) }
        case .object(let fields):
            facts.objects.append(fields)
            let object = type.flatMap { $0.isList ? nil : schema.type(named: $0.namedType) }
            for field in fields {
                let definition = object?.inputField(named: field.name)
                let oneOf = object?.isOneOf == true && fields.count == 1 ? object?.name : nil
                walk(field.value, type: definition?.type, hasDefault: definition?.defaultValue != nil, oneOf: oneOf)
            }
        case .int, .float, .string, .boolean, .null, .enumeration: break
        }
    }
}
