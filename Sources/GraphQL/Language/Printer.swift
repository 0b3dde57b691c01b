/// The document as text, laid out as graphql-js lays it out.
public func printDocument(_ document: Document) -> String { Printer.definitions(document.definitions) }

/// The value as text.
public func printValue(_ value: Value) -> String { Printer.value(value) }

/// One function a production, as in the parser; the type system's stand in their own file.
enum Printer {
    static func definitions(_ definitions: [Definition]) -> String {
        var texts: [String] = []
        for definition in definitions {
            let text = Printer.definition(definition)
            // `type a` and then `{ b }` would read as one type with fields.
            let couldBeFields = text.hasPrefix("{") && texts.last?.hasSuffix("}") == false
            texts.append(couldBeFields ? "query \(text)" : text)
        }
        return texts.joined(separator: "\n\n")
    }

    static func definition(_ definition: Definition) -> String {
        switch definition {
        case .operation(let node): operation(node)
        case .fragment(let node): fragment(node)
        default: typeSystemDefinition(definition)
        }
    }

    private static func operation(_ node: OperationDefinition) -> String {
        let printed = node.variables.map(variable)
        // Not indented, as graphql-js leaves them; block strings inside would be, too.
        let isMultiline = printed.contains { $0.unicodeScalars.contains("\n") }
        let variables =
            isMultiline
            ? PrintedText.wrap("(\n", PrintedText.join(printed, "\n"), "\n)")
            : PrintedText.wrap("(", PrintedText.join(printed, ", "), ")")
        let head = PrintedText.join(
            [node.kind.rawValue, (node.name ?? "") + variables, directives(node.directives)],
            " "
        )
        let isShort = head == "query" && node.description == nil
        return description(node.description) + (isShort ? "" : head + " ") + selectionSet(node.selectionSet)
    }

    private static func variable(_ node: VariableDefinition) -> String {
        description(node.description) + "$\(node.name): \(node.type)"
            + PrintedText.wrap(" = ", node.defaultValue.map(value) ?? "")
            + PrintedText.wrap(" ", directives(node.directives))
    }

    private static func selectionSet(_ node: SelectionSet) -> String {
        PrintedText.block(node.selections.map(selection))
    }

    private static func selection(_ node: Selection) -> String {
        switch node {
        case .field(let field): self.field(field)
        case .fragmentSpread(let spread): "..." + spread.name + PrintedText.wrap(" ", directives(spread.directives))
        case .inlineFragment(let fragment):
            PrintedText.join(
                [
                    "...", PrintedText.wrap("on ", fragment.typeCondition ?? ""), directives(fragment.directives),
                    selectionSet(fragment.selectionSet),
                ],
                " "
            )
        }
    }

    private static func field(_ node: Field) -> String {
        let name = PrintedText.wrap("", node.alias ?? "", ": ") + node.name
        let arguments = node.arguments.map(argument)
        var line = name + PrintedText.wrap("(", PrintedText.join(arguments, ", "), ")")
        if line.utf16.count > 80 {
            line = name + PrintedText.wrap("(\n", PrintedText.indent(PrintedText.join(arguments, "\n")), "\n)")
        }
        return PrintedText.join([line, directives(node.directives), node.selectionSet.map(selectionSet) ?? ""], " ")
    }

    private static func fragment(_ node: FragmentDefinition) -> String {
        description(node.description) + "fragment \(node.name) on \(node.typeCondition) "
            + PrintedText.wrap("", directives(node.directives), " ") + selectionSet(node.selectionSet)
    }

    private static func argument(_ node: ArgumentNode) -> String { "\(node.name): \(value(node.value))" }

    static func directives(_ nodes: [Directive]) -> String {
        PrintedText.join(nodes.map(directive), " ")
    }

    private static func directive(_ node: Directive) -> String {
        "@" + node.name + PrintedText.wrap("(", PrintedText.join(node.arguments.map(argument), ", "), ")")
    }

    static func description(_ text: StringValue?) -> String {
        guard let text else { return "" }
        return (text.isBlock ? PrintedText.blockQuoted(text.value) : PrintedText.quoted(text.value)) + "\n"
    }

    static func value(_ node: Value) -> String {
        switch node.kind {
        case .variable(let name): "$" + name
        case .int(let digits), .float(let digits): digits
        case .string(let text): text.isBlock ? PrintedText.blockQuoted(text.value) : PrintedText.quoted(text.value)
        case .boolean(let flag): flag ? "true" : "false"
        case .null: "null"
        case .enumeration(let name): name
        case .list(let values): "[" + values.map(value).joined(separator: ", ") + "]"
        case .object(let fields):
            "{" + fields.map { "\($0.name): \(value($0.value))" }.joined(separator: ", ") + "}"
        }
    }
}
