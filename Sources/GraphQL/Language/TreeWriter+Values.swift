// Values, arguments, directives and types, which executable and type system definitions share.
extension TreeWriter {
    mutating func description(_ text: StringValue?) {
        guard let text else { return }
        member("description")
        string(text)
    }

    mutating func arguments(_ arguments: [ArgumentNode]) {
        list("arguments", arguments) { tree, argument in
            tree.node("Argument") { tree in
                tree.name(argument.name)
                tree.value(argument.value, as: "value")
            }
        }
    }

    mutating func directives(_ directives: [Directive]) {
        list("directives", directives) { tree, directive in
            tree.node("Directive") { tree in
                tree.name(directive.name)
                tree.arguments(directive.arguments)
            }
        }
    }

    mutating func value(_ value: Value?, as member: StaticString) {
        guard let value else { return }
        self.member(member)
        self.value(value)
    }

    private mutating func value(_ value: Value) {
        switch value.kind {
        case .variable(let name): node("Variable") { tree in tree.name(name) }
        case .int(let digits): node("IntValue") { tree in tree.text("value", digits) }
        case .float(let digits): node("FloatValue") { tree in tree.text("value", digits) }
        case .string(let text): string(text)
        case .boolean(let flag): node("BooleanValue") { tree in tree.flag("value", flag) }
        case .null: node("NullValue") { _ in }
        case .enumeration(let name): node("EnumValue") { tree in tree.text("value", name) }
        case .list(let values):
            node("ListValue") { tree in tree.list("values", values) { tree, value in tree.value(value) } }
        case .object(let fields):
            node("ObjectValue") { tree in
                tree.list("fields", fields) { tree, field in
                    tree.node("ObjectField") { tree in
                        tree.name(field.name)
                        tree.value(field.value, as: "value")
                    }
                }
            }
        }
    }

    private mutating func string(_ text: StringValue) {
        node("StringValue") { tree in
            tree.text("value", text.value)
            tree.flag("block", text.isBlock)
        }
    }

    mutating func type(_ type: TypeReference) {
        member("type")
        switch type {
        case .named(let name): namedTypeNode(name)
        case .list(let inner): node("ListType") { tree in tree.type(inner) }
        case .nonNull(let inner): node("NonNullType") { tree in tree.type(inner) }
        }
    }

    mutating func namedType(_ name: String, as member: StaticString) {
        self.member(member)
        namedTypeNode(name)
    }

    mutating func namedTypeNode(_ name: String) {
        node("NamedType") { tree in tree.name(name) }
    }
}
