/// Every mistake in a document by the rules of GraphQL §5, in the order of the document; none
/// when it may be executed.
///
/// With `suggests`, messages about unknown names end in similar names of the schema,
/// which are not for everybody.
public func validate(
    _ document: Document,
    against schema: Schema,
    limits: ValidationLimits = .standard,
    suggests: Bool = true
) -> [GraphQLError] {
    document.tree.withRoot { root in
        var context = ValidationContext(root, schema, limits, Suggestions(isOn: suggests))
        for rule in specifiedRules {
            rule.check(&context)
            if context.isFull { break }
        }
        return context.errors.isEmpty ? [] : inOrder(context)
    }
}

/// Errors in the order of the document, those of one location in the order of the rules.
private func inOrder(_ context: ValidationContext) -> [GraphQLError] {
    let start = SourceLocation(line: 0, column: 0)
    var errors = context.errors.enumerated().sorted { left, right in
        let locations = (left.element.locations.first ?? start, right.element.locations.first ?? start)
        return locations.0 == locations.1 ? left.offset < right.offset : locations.0 < locations.1
    }.map(\.element)
    if context.isFull {
        errors.append(GraphQLError("Too many validation errors, error limit reached. Validation aborted."))
    }
    return errors
}

/// One rule of GraphQL §5: looks at the facts of a document and reports what breaks it.
struct ValidationRule: Sendable {
    /// Its name, as graphql-js calls it.
    let name: String
    let check: @Sendable (inout ValidationContext) -> Void

    init(_ name: String, _ check: @escaping @Sendable (inout ValidationContext) -> Void) {
        self.name = name
        self.check = check
    }
}

/// All rules, in the order they are applied.
let specifiedRules: [ValidationRule] = [
    .executableDefinitions,
    .uniqueOperationNames,
    .loneAnonymousOperation,
    .singleFieldSubscriptions,
    .knownTypeNames,
    .fragmentsOnCompositeTypes,
    .variablesAreInputTypes,
    .scalarLeafs,
    .fieldsOnCorrectType,
    .uniqueFragmentNames,
    .knownFragmentNames,
    .noUnusedFragments,
    .possibleFragmentSpreads,
    .noFragmentCycles,
    .uniqueVariableNames,
    .noUndefinedVariables,
    .noUnusedVariables,
    .knownDirectives,
    .uniqueDirectivesPerLocation,
    .knownArgumentNames,
    .uniqueArgumentNames,
    .valuesOfCorrectType,
    .providedRequiredArguments,
    .variablesInAllowedPosition,
    .uniqueInputFieldNames,
    .documentSize,
    .operationSize,
    .rootFields,
    .operationCost,
    .overlappingFieldsCanBeMerged,
    .maxIntrospectionDepth,
]
