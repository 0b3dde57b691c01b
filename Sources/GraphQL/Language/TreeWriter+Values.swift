// Values, arguments, directives and types, which executable and type system definitions share.
extension TreeWriter {
    mutating func description(_ node: NodeView) {
        guard let text = node.first(.description) else { return }
        member("description")
        string(text)
    }

    mutating func arguments(_ node: NodeView) {
        list("arguments", node.children(.argument)) { tree, argument in
            tree.node("Argument", argument) { tree in
                tree.name(argument)
                tree.member("value")
                tree.value(argument.value)
            }
        }
    }

    mutating func directives(_ node: NodeView) {
        list("directives", node.children(.directive)) { tree, directive in
            tree.node("Directive", directive) { tree in
                tree.name(directive)
                tree.arguments(directive)
            }
        }
    }

    mutating func defaultValue(_ node: NodeView) {
        guard let value = node.defaultValue else { return }
        member("defaultValue")
        self.value(value)
    }

    private mutating func value(_ value: NodeView) {
        switch value.kind {
        case .variable: node("Variable", value) { tree in tree.name(value) }
        case .int: node("IntValue", value) { tree in tree.text("value", value.name) }
        case .float: node("FloatValue", value) { tree in tree.text("value", value.name) }
        case .boolean: node("BooleanValue", value) { tree in tree.flag("value", value.flags.contains(.isTrue)) }
        case .null: node("NullValue", value) { _ in }
        case .enumeration: node("EnumValue", value) { tree in tree.text("value", value.name) }
        case .list:
            node("ListValue", value) { tree in
                tree.list("values", value.children.map { $0 }) { tree, value in tree.value(value) }
            }
        case .object:
            node("ObjectValue", value) { tree in
                tree.list("fields", value.children.map { $0 }) { tree, field in
                    tree.node("ObjectField", field) { tree in
                        tree.name(field)
                        tree.member("value")
                        tree.value(field.value)
                    }
                }
            }
        default: string(value)
        }
    }

    private mutating func string(_ text: NodeView) {
        node("StringValue", text) { tree in
            tree.text("value", text.string)
            tree.flag("block", text.flags.contains(.isBlock))
        }
    }

    /// The type of a variable, field or input value.
    mutating func type(_ node: NodeView) {
        typeMember(node.typeNode)
    }

    private mutating func typeMember(_ type: NodeView) {
        member("type")
        guard type.isNonNull else { return nullableType(type, end: type.end) }
        node("NonNullType", type) { tree in
            tree.member("type")
            tree.nullableType(type, end: type.endBeforeMark)
        }
    }

    private mutating func nullableType(_ type: NodeView, end: Int) {
        guard type.kind == .listType else { return namedTypeNode(type) }
        node("ListType", from: type.start, to: end) { tree in tree.typeMember(type[type.index + 1]) }
    }

    /// A type that is but a name, told by the node whose text it is.
    mutating func namedType(_ node: NodeView, as member: StaticString) {
        self.member(member)
        namedTypeNode(node)
    }

    mutating func namedTypeNode(_ type: NodeView) {
        node("NamedType", from: type.textStart, to: type.textStart + type.text.length) { tree in tree.name(type) }
    }
}

extension NodeView {
    /// The byte after a list's bracket, which its non-null mark follows.
    fileprivate var endBeforeMark: Int {
        kind == .listType ? bytes.endOfIgnored(from: self[index + 1].end) + 1 : end
    }
}
