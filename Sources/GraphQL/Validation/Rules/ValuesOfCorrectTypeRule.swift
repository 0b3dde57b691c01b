extension ValidationRule {
    /// Values fit the types of their locations (GraphQL §5.6.1, §5.6.2, §5.6.4).
    static let valuesOfCorrectType = ValidationRule("ValuesOfCorrectType") { context in
        for (value, type) in context.facts.defaults {
            checkValue(value, written: type, expected: type, &context)
            if context.isFull { return }
        }
        for use in context.facts.values where use.node.kind != .variable {
            checkValue(use.node, use.type, expected: .schema(use.type), &context)
            if context.isFull { return }
        }
    }
}

/// What is expected of a value, as it is told in messages: the whole type, also when the value is
/// one item for a list.
private enum Expectation {
    case schema(ReferenceNumber)
    case written(NodeView)
}

/// A value where the schema expects a type, or in one of its lists.
private func checkValue(
    _ value: NodeView,
    _ type: ReferenceNumber,
    expected: Expectation,
    _ context: inout ValidationContext
) {
    let reference = context.index[type]
    switch value.kind {
    case .variable: return
    case .null:
        guard reference.isNonNull else { return }
        context.report("Expected value of type \"\(context.written(type))\", found null.", value.start)
    case .list where reference.element != nil:
        guard let element = reference.element else { return }
        for item in value.children where !context.isFull {
            checkValue(item, element, expected: .schema(element), &context)
        }
    default:
        if let element = reference.element {
            checkValue(value, element, expected: expected, &context)
        } else if let named = reference.namedType {
            checkValue(value, of: named, expected, &context)
        }
    }
}

/// The default value of a variable, whose type the document writes.
private func checkValue(
    _ value: NodeView,
    written type: NodeView,
    expected: NodeView,
    _ context: inout ValidationContext
) {
    let element = type.kind == .listType ? type[type.index + 1] : nil
    switch value.kind {
    case .null:
        guard type.isNonNull else { return }
        context.report("Expected value of type \"\(type.typeReference)\", found null.", value.start)
    case .list where element != nil:
        guard let element else { return }
        for item in value.children where !context.isFull {
            checkValue(item, written: element, expected: element, &context)
        }
    default:
        if let element {
            checkValue(value, written: element, expected: expected, &context)
        } else if let named = context.index.type(named: type.text) {
            checkValue(value, of: named, .written(expected), &context)
        }
    }
}

private func checkValue(
    _ value: NodeView,
    of type: TypeNumber,
    _ expected: Expectation,
    _ context: inout ValidationContext
) {
    switch context.index[type].kind {
    case .scalar: checkScalar(value, type, &context)
    case .enumeration:
        if value.kind == .enumeration, context.index.hasEnumValue(value.text, type) { return }
        let (text, object) = (context.written(value), context.object(type))
        let message =
            value.kind == .enumeration
            ? "Value \"\(text)\" does not exist in \"\(object.name)\" enum."
            : "Enum \"\(object.name)\" cannot represent non-enum value: \(text)."
        context.report(message + context.suggestions.values(like: text, of: object), value.start)
    case .inputObject:
        guard value.kind != .object else { return checkObject(value, type, &context) }
        let whole =
            switch expected {
            case .schema(let type): context.written(type)
            case .written(let type): type.typeReference
            }
        // The reference looks at a list from inside, past the mark of its location.
        let told = value.kind == .list ? whole.nullable : whole
        context.report("Expected value of type \"\(told)\", found \(context.written(value)).", value.start)
    case .object, .interface, .union: return
    }
}

private func checkScalar(_ value: NodeView, _ type: TypeNumber, _ context: inout ValidationContext) {
    let scalar = context.index[type].scalar ?? .custom
    let isCustom = scalar == .custom
    if isCustom ? context.schema.scalarCoercions.isEmpty : value.surelyFits(scalar) { return }
    let literal = context.value(value)
    do throws(CoercionError) {
        _ = try LiteralCoercion(schema: context.schema).coerceScalar(literal, context.object(type))
    } catch {
        // A custom scalar cannot judge a value before its variables are known.
        if !(isCustom && value.containsVariable) { context.report(error.message, value.start) }
    }
}

extension NodeView {
    /// Whether one look tells that the value is one of the scalar's;
    /// numbers near the edge need two.
    fileprivate func surelyFits(_ scalar: SchemaIndex.Scalar) -> Bool {
        switch scalar {
        case .int, .float: kind == .int && text.length < 10
        case .string: kind == .string
        case .boolean: kind == .boolean
        case .id: kind == .string || kind == .int
        case .custom: false
        }
    }
}

private func checkObject(_ value: NodeView, _ type: TypeNumber, _ context: inout ValidationContext) {
    let (index, object) = (context.index, context.object(type))
    for field in index[type].inputs.lazy.map({ InputNumber(Int($0)) }) where index[field].isRequired {
        guard !value.children.contains(where: { index.inputField(named: $0.text, of: type) == field }) else { continue }
        let (name, type) = ("\(object.name).\(context.name(field))", context.written(index[field].type))
        context.report("Field \"\(name)\" of required type \"\(type)\" was not provided.", value.start)
    }
    for field in value.children {
        guard let definition = index.inputField(named: field.text, of: type) else {
            let ending = context.suggestions.similar(to: field.name, among: object.inputFields.map(\.name))
            let message = "Field \"\(field.name)\" is not defined by type \"\(object.name)\"." + ending
            context.report(message, field.start)
            continue
        }
        checkValue(field.value, index[definition].type, expected: .schema(index[definition].type), &context)
    }
    if index[type].isOneOf { checkOneOf(value, object, &context) }
}

private func checkOneOf(_ value: NodeView, _ type: Schema.NamedType, _ context: inout ValidationContext) {
    let fields = value.children.map { $0 }
    if fields.count != 1 {
        context.report("OneOf Input Object \"\(type.name)\" must specify exactly one key.", value.start)
    } else if fields[0].value.kind == .null {
        context.report("Field \"\(type.name).\(fields[0].name)\" must be non-null.", value.start)
    }
}
