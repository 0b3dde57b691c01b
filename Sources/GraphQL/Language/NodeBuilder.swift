/// Makes the values of `Document.definitions` from the syntax tree, for whoever would
/// rather hold values than views.
struct NodeBuilder {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var lines = SourceLines()

    /// A builder for nodes of the tree with this source.
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    mutating func location(_ offset: Int) -> SourceLocation {
        lines.location(of: offset, in: bytes)
    }

    mutating func definition(_ node: NodeView) -> Definition {
        switch node.kind {
        case .operation: .operation(operation(node))
        case .fragmentDefinition: .fragment(fragment(node))
        default: typeSystemDefinition(node)
        }
    }

    mutating func operation(_ node: NodeView) -> OperationDefinition {
        let start = node.bodyStart
        return OperationDefinition(
            description: description(node),
            kind: node.flags.operationKind,
            name: node.text.isEmpty ? nil : node.name,
            variables: node.children(.variableDefinition).map { variable($0) },
            directives: directives(node),
            selectionSet: selectionSet(node) ?? SelectionSet(selections: [], location: location(start)),
            location: location(start),
            nameLocation: location(node.text.isEmpty ? start : node.textStart)
        )
    }

    mutating func variable(_ node: NodeView) -> VariableDefinition {
        let type = node.typeNode
        return VariableDefinition(
            description: description(node),
            name: node.name,
            type: type.typeReference,
            defaultValue: node.defaultValue.map { value($0) },
            directives: directives(node),
            location: location(node.bodyStart),
            typeStart: location(type.start),
            typeLocation: location(type.namedType.start)
        )
    }

    private mutating func selectionSet(_ parent: NodeView) -> SelectionSet? {
        guard let node = parent.selectionSet else { return nil }
        return SelectionSet(selections: node.children.map { selection($0) }, location: location(node.start))
    }

    private mutating func selection(_ node: NodeView) -> Selection {
        switch node.kind {
        case .fragmentSpread:
            .fragmentSpread(
                FragmentSpread(
                    name: node.name,
                    directives: directives(node),
                    location: location(node.start),
                    nameLocation: location(node.textStart)
                )
            )
        case .inlineFragment:
            .inlineFragment(
                InlineFragment(
                    typeCondition: node.text.isEmpty ? nil : node.name,
                    directives: directives(node),
                    selectionSet: selectionSet(node) ?? SelectionSet(selections: [], location: location(node.start)),
                    location: location(node.start),
                    typeConditionLocation: location(node.text.isEmpty ? node.start : node.textStart)
                )
            )
        default: .field(field(node))
        }
    }

    mutating func field(_ node: NodeView) -> Field {
        Field(
            alias: node.alias?.string,
            name: node.name,
            arguments: arguments(node),
            directives: directives(node),
            selectionSet: selectionSet(node),
            location: location(node.start)
        )
    }

    mutating func fragment(_ node: NodeView) -> FragmentDefinition {
        let start = node.bodyStart
        let condition = node.typeNode
        return FragmentDefinition(
            description: description(node),
            name: node.name,
            typeCondition: condition.name,
            directives: directives(node),
            selectionSet: selectionSet(node) ?? SelectionSet(selections: [], location: location(start)),
            location: location(start),
            nameLocation: location(node.textStart),
            typeConditionLocation: location(condition.start)
        )
    }
}

// What executable and type system definitions share.
extension NodeBuilder {
    func description(_ node: NodeView) -> StringValue? {
        node.first(.description).map { StringValue(value: $0.string, isBlock: $0.flags.contains(.isBlock)) }
    }

    mutating func directives(_ node: NodeView) -> [Directive] {
        node.children(.directive).map { directive in
            Directive(name: directive.name, arguments: arguments(directive), location: location(directive.start))
        }
    }

    /// The arguments of a field or directive.
    mutating func arguments(_ node: NodeView) -> [ArgumentNode] {
        node.children(.argument).map { argument in
            ArgumentNode(name: argument.name, value: value(argument.value), location: location(argument.start))
        }
    }

    mutating func value(_ node: NodeView) -> Value {
        Value(kind: valueKind(node), location: location(node.start))
    }

    private mutating func valueKind(_ node: NodeView) -> Value.Kind {
        switch node.kind {
        case .variable: return .variable(node.name)
        case .int: return .int(node.name)
        case .float: return .float(node.name)
        case .boolean: return .boolean(node.flags.contains(.isTrue))
        case .null: return .null
        case .enumeration: return .enumeration(node.name)
        case .list: return .list(node.children.map { value($0) })
        case .object:
            return .object(
                node.children.map { field in
                    ObjectField(name: field.name, value: value(field.value), location: location(field.start))
                }
            )
        default: return .string(StringValue(value: node.string, isBlock: node.flags.contains(.isBlock)))
        }
    }
}

extension NodeView {
    /// The type of a variable, field or input value; the type condition of a fragment.
    var typeNode: NodeView {
        for child in children where child.kind == .namedType || child.kind == .listType { return child }
        // The grammar asks for one in all of these.
        return self
    }

    /// The value after the equals sign of a variable or input value: the one child that
    /// is neither text nor type.
    var defaultValue: NodeView? {
        for child in children {
            switch child.kind {
            case .variable, .int, .float, .string, .boolean, .null, .enumeration, .list, .object: return child
            default: continue
            }
        }
        return nil
    }

    /// The type with all its marks.
    var typeReference: TypeReference {
        let type: TypeReference = kind == .listType ? .list(self[index + 1].typeReference) : .named(name)
        return isNonNull ? .nonNull(type) : type
    }
}
