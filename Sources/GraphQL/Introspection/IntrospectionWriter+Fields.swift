import JSON

// The fields of each introspection type, by name.
extension IntrospectionWriter {
    func schemaAnswer(_ field: String) -> Answer {
        switch field {
        case "description": .text(schema.description)
        case "types": .nodes(schema.types.map { .type(.named($0.name)) })
        case "queryType": .node(.type(.named(schema.queryType.name)))
        case "mutationType": typeAnswer(schema.mutationType)
        case "subscriptionType": typeAnswer(schema.subscriptionType)
        case "directives": .nodes(schema.directives.map(Node.directive))
        default: .json(.null)
        }
    }

    private func typeAnswer(_ type: Schema.NamedType?) -> Answer {
        type.map { .node(.type(.named($0.name))) } ?? .json(.null)
    }

    func typeAnswer(_ type: TypeReference, _ field: String, _ showsDeprecated: Bool) -> Answer {
        switch type {
        case .nonNull(let inner): wrapperAnswer("NON_NULL", inner, field)
        case .list(let inner): wrapperAnswer("LIST", inner, field)
        case .named(let name): schema.type(named: name).map { answer($0, field, showsDeprecated) } ?? .json(.null)
        }
    }

    private func wrapperAnswer(_ kind: String, _ inner: TypeReference, _ field: String) -> Answer {
        switch field {
        case "kind": .text(kind)
        case "ofType": .node(.type(inner))
        default: .json(.null)
        }
    }

    private func answer(_ type: Schema.NamedType, _ field: String, _ showsDeprecated: Bool) -> Answer {
        switch field {
        case "kind": return .text(type.kind.rawValue)
        case "name": return .text(type.name)
        case "description": return .text(type.description)
        case "specifiedByURL": return .text(type.specifiedByURL)
        case "isOneOf": return .json(type.kind == .inputObject ? .bool(type.isOneOf) : .null)
        case "fields" where type.kind == .object || type.kind == .interface:
            return .nodes(type.fields.filter { showsDeprecated || $0.deprecationReason == nil }.map(Node.field))
        case "interfaces" where type.kind == .object || type.kind == .interface:
            return .nodes(type.interfaces.map { .type(.named($0)) })
        case "possibleTypes" where type.isAbstract:
            return .nodes(schema.possibleTypes(of: type).map { .type(.named($0.name)) })
        case "enumValues" where type.kind == .enumeration:
            let values = type.enumValues.filter { showsDeprecated || $0.deprecationReason == nil }
            return .nodes(values.map(Node.enumValue))
        case "inputFields" where type.kind == .inputObject:
            return inputValues(type.inputFields, showsDeprecated)
        default: return .json(.null)
        }
    }

    private func inputValues(_ values: [Schema.InputValue], _ showsDeprecated: Bool) -> Answer {
        .nodes(values.filter { showsDeprecated || $0.deprecationReason == nil }.map(Node.inputValue))
    }

    func fieldAnswer(_ value: Schema.Field, _ field: String, _ showsDeprecated: Bool) -> Answer {
        switch field {
        case "name": .text(value.name)
        case "description": .text(value.description)
        case "args": inputValues(value.arguments, showsDeprecated)
        case "type": .node(.type(value.type))
        case "isDeprecated": .json(.bool(value.deprecationReason != nil))
        case "deprecationReason": .text(value.deprecationReason)
        default: .json(.null)
        }
    }

    func inputValueAnswer(_ value: Schema.InputValue, _ field: String) -> Answer {
        switch field {
        case "name": .text(value.name)
        case "description": .text(value.description)
        case "type": .node(.type(value.type))
        case "defaultValue": .text(value.defaultValue.map(printValue))
        case "isDeprecated": .json(.bool(value.deprecationReason != nil))
        case "deprecationReason": .text(value.deprecationReason)
        default: .json(.null)
        }
    }

    func enumValueAnswer(_ value: Schema.EnumValue, _ field: String) -> Answer {
        switch field {
        case "name": .text(value.name)
        case "description": .text(value.description)
        case "isDeprecated": .json(.bool(value.deprecationReason != nil))
        case "deprecationReason": .text(value.deprecationReason)
        default: .json(.null)
        }
    }

    func directiveAnswer(_ value: DirectiveDefinition, _ field: String, _ showsDeprecated: Bool) -> Answer {
        switch field {
        case "name": .text(value.name)
        case "description": .text(value.description?.value)
        case "isRepeatable": .json(.bool(value.isRepeatable))
        case "locations": .json(.array(value.locations.map { .string($0.rawValue) }))
        case "args": inputValues(value.arguments.map(Schema.InputValue.init), showsDeprecated)
        default: .json(.null)
        }
    }
}
