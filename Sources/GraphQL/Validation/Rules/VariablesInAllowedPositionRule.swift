extension ValidationRule {
    /// Variables stand where values of their types may (GraphQL §5.8.5).
    static let variablesInAllowedPosition = ValidationRule("VariablesInAllowedPosition") { context in
        for operation in context.facts.operations {
            var names = NameList()
            var variables: [NodeView] = []
            for variable in context.facts.definitions[operation].node.children
            where variable.kind == .variableDefinition && names.insert(variable.text).isNew {
                variables.append(variable)
            }
            guard !variables.isEmpty else { continue }
            for definition in context.reachable(from: operation) {
                for use in context.facts.variables[context.facts.definitions[definition].variables] {
                    if let position = names.position(of: use.node.text) {
                        checkUse(use, variables[position], &context)
                    }
                    if context.isFull { return }
                }
            }
        }
    }
}

private func checkUse(_ use: DocumentFacts.VariableUse, _ variable: NodeView, _ context: inout ValidationContext) {
    let written = variable.typeNode
    guard let type = use.type, let named = context.index.type(named: written.namedType.text) else { return }
    if let oneOf = use.oneOf, !written.isNonNull {
        let object = context.object(oneOf).name
        context.report(
            "Variable \"$\(use.node.name)\" is of type \"\(written.typeReference)\" but must be non-nullable to be used for OneOf Input Object \"\(object)\".",
            variable.bodyStart,
            use.node.start
        )
    }
    let comparison = TypeComparison(index: context.index, named: named)
    if !comparison.isAllowed(variable, in: type, isNullable: use.isNullable, hasDefault: use.hasDefault) {
        let expected = context.written(type)
        context.report(
            "Variable \"$\(use.node.name)\" of type \"\(written.typeReference)\" used in position expecting type \"\(use.isNullable ? expected.nullable : expected)\".",
            variable.bodyStart,
            use.node.start
        )
    }
}

/// Compares the type a document writes with one of the schema.
private struct TypeComparison {
    let index: SchemaIndex
    /// The type inside all lists of what the document writes.
    let named: TypeNumber

    /// IsVariableUsageAllowed: a default makes up for a missing non-null mark.
    func isAllowed(_ variable: NodeView, in expected: ReferenceNumber, isNullable: Bool, hasDefault: Bool) -> Bool {
        let type = variable.typeNode
        let isNullRefused = index[expected].isNonNull && !isNullable && !type.isNonNull
        if isNullRefused, !hasDefault, variable.defaultValue.map({ $0.kind == .null }) ?? true { return false }
        return isSubtype(type, of: expected)
    }

    /// AreTypesCompatible, but for the outermost marks.
    private func isSubtype(_ type: NodeView, of expected: ReferenceNumber) -> Bool {
        guard type.kind == .listType else {
            return index[expected].element == nil && index[expected].namedType == named
        }
        guard let element = index[expected].element else { return false }
        let inner = type[type.index + 1]
        return (inner.isNonNull || !index[element].isNonNull) && isSubtype(inner, of: element)
    }
}
