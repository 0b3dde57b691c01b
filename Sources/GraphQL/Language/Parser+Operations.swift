extension Parser {
    /// `OperationDefinition : SelectionSet`.
    mutating func readAnonymousQuery() throws(SyntaxError) -> OperationDefinition {
        let location = token.location
        return OperationDefinition(
            description: nil,
            kind: .query,
            name: nil,
            variables: [],
            directives: [],
            selectionSet: try readSelectionSet(),
            location: location,
            nameLocation: location
        )
    }

    /// `OperationDefinition : Description? OperationType Name? VariablesDefinition? Directives? SelectionSet`.
    mutating func readOperation(_ description: StringValue?) throws(SyntaxError) -> OperationDefinition {
        let location = token.location
        let kind = try readOperationKind()
        let nameLocation = token.kind == .name ? token.location : location
        let name = token.kind == .name ? try readName() : nil
        let variables = try optionalMany(.openParenthesis, .closeParenthesis) { (parser) throws(SyntaxError) in
            try parser.readVariableDefinition()
        }
        return OperationDefinition(
            description: description,
            kind: kind,
            name: name,
            variables: variables,
            directives: try readDirectives(isConstant: false),
            selectionSet: try readSelectionSet(),
            location: location,
            nameLocation: nameLocation
        )
    }

    /// `OperationType : one of query mutation subscription`.
    mutating func readOperationKind() throws(SyntaxError) -> OperationKind {
        let kind = OperationKind(rawValue: tokenText)
        guard token.kind != .name || kind != nil else { throw unexpected() }
        try expect(.name)
        guard let kind else { throw unexpected() }
        return kind
    }

    /// `VariableDefinition : Description? Variable : Type DefaultValue? Directives[Const]?`.
    private mutating func readVariableDefinition() throws(SyntaxError) -> VariableDefinition {
        let start = token.start
        let description = try readDescription()
        let location = token.location
        let dollar = token.start
        try expect(.dollar)
        let name = try readName()
        record(from: dollar)
        try expect(.colon)
        let typeStart = token.location
        let (type, typeLocation) = try readLocatedType()
        defer { record(from: start) }
        return VariableDefinition(
            description: description,
            name: name,
            type: type,
            defaultValue: try take(.equals) ? try readValue(isConstant: true) : nil,
            directives: try readDirectives(isConstant: true),
            location: location,
            typeStart: typeStart,
            typeLocation: typeLocation
        )
    }

    /// `SelectionSet : { Selection+ }`.
    mutating func readSelectionSet() throws(SyntaxError) -> SelectionSet {
        let location = token.location
        let start = token.start
        let selections = try nested { (parser) throws(SyntaxError) in
            try parser.many(.openBrace, .closeBrace) { (parser) throws(SyntaxError) in try parser.readSelection() }
        }
        record(from: start)
        return SelectionSet(selections: selections, location: location)
    }

    /// `Selection : Field | FragmentSpread | InlineFragment`.
    private mutating func readSelection() throws(SyntaxError) -> Selection {
        token.kind == .spread ? try readFragment() : .field(try readField())
    }

    /// `Field : Alias? Name Arguments? Directives? SelectionSet?`.
    private mutating func readField() throws(SyntaxError) -> Field {
        let location = token.location
        let start = token.start
        defer { record(from: start) }
        let first = try readName()
        let isAliased = try take(.colon)
        return Field(
            alias: isAliased ? first : nil,
            name: isAliased ? try readName() : first,
            arguments: try readArguments(isConstant: false),
            directives: try readDirectives(isConstant: false),
            selectionSet: token.kind == .openBrace ? try readSelectionSet() : nil,
            location: location
        )
    }

    /// `FragmentSpread : ..? FragmentName Directives?`, `InlineFragment : ... TypeCondition? Directives? SelectionSet`.
    private mutating func readFragment() throws(SyntaxError) -> Selection {
        let location = token.location
        let start = token.start
        defer { record(from: start) }
        try expect(.spread)
        let hasCondition = try takeKeyword("on")
        let nameLocation = token.location
        if !hasCondition, token.kind == .name {
            return .fragmentSpread(
                FragmentSpread(
                    name: try readName(),
                    directives: try readDirectives(isConstant: false),
                    location: location,
                    nameLocation: nameLocation
                )
            )
        }
        return .inlineFragment(
            InlineFragment(
                typeCondition: hasCondition ? try readNamedType() : nil,
                directives: try readDirectives(isConstant: false),
                selectionSet: try readSelectionSet(),
                location: location,
                typeConditionLocation: hasCondition ? nameLocation : location
            )
        )
    }

    /// `FragmentDefinition : Description? fragment FragmentName TypeCondition Directives? SelectionSet`.
    mutating func readFragment(_ description: StringValue?) throws(SyntaxError) -> FragmentDefinition {
        let location = token.location
        try expectKeyword("fragment")
        if isKeyword("on") { throw unexpected() }
        let nameLocation = token.location
        let name = try readName()
        try expectKeyword("on")
        let typeConditionLocation = token.location
        return FragmentDefinition(
            description: description,
            name: name,
            typeCondition: try readNamedType(),
            directives: try readDirectives(isConstant: false),
            selectionSet: try readSelectionSet(),
            location: location,
            nameLocation: nameLocation,
            typeConditionLocation: typeConditionLocation
        )
    }
}
