extension Parser {
    /// `OperationDefinition : SelectionSet`.
    mutating func readAnonymousQuery() throws(SyntaxError) {
        let operation = begin(.operation)
        try readSelectionSet()
        finish(operation)
    }

    /// `OperationDefinition : Description? OperationType Name? VariablesDefinition?
    /// Directives? SelectionSet`.
    mutating func readOperation(_ operation: Int) throws(SyntaxError) {
        add(SyntaxNode.Flags(try readOperationKind()), to: operation)
        if lexer.token == .name { try readName(of: operation) }
        if try take(.openParenthesis) {
            repeat { try readVariableDefinition() } while try !take(.closeParenthesis)
        }
        try readDirectives(isConstant: false)
        try readSelectionSet()
    }

    /// `OperationType : one of query mutation subscription`.
    mutating func readOperationKind() throws(SyntaxError) -> OperationKind {
        let text = tokenText
        let isMutation = text == "mutation"
        let isSubscription = text == "subscription"
        if lexer.token == .name, !(text == "query"), !isMutation, !isSubscription { throw unexpected() }
        try expect(.name)
        return isMutation ? .mutation : isSubscription ? .subscription : .query
    }

    /// `VariableDefinition : Description? Variable : Type DefaultValue? Directives[Const]?`.
    private mutating func readVariableDefinition() throws(SyntaxError) {
        let variable = begin(.variableDefinition)
        try readDescription()
        try expect(.dollar)
        try readName(of: variable)
        try expect(.colon)
        try readType()
        if try take(.equals) { try readValue(isConstant: true) }
        try readDirectives(isConstant: true)
        finish(variable)
    }

    /// `SelectionSet : { Selection+ }`.
    mutating func readSelectionSet() throws(SyntaxError) {
        let set = begin(.selectionSet)
        try nest()
        try expect(.openBrace)
        repeat {
            if lexer.token == .name {
                try readField()
            } else {
                try readOtherSelection()
            }
        } while try !take(.closeBrace)
        unnest()
        finish(set)
    }

    /// `Field : Alias? Name Arguments? Directives? SelectionSet?`.
    private mutating func readField() throws(SyntaxError) {
        let first = try readName()
        let field = begin(.field, at: first.lowerBound, text: first)
        if try take(.colon) {
            add(.isAliased, to: field)
            setText(try readName(), of: field)
            finish(field)
        }
        // Most fields are a name and no more.
        if lexer.token == .name || lexer.token == .closeBrace { return }
        try readArguments(isConstant: false)
        try readDirectives(isConstant: false)
        if lexer.token == .openBrace { try readSelectionSet() }
        finish(field)
    }

    /// `Selection`, when it begins with no name.
    private mutating func readOtherSelection() throws(SyntaxError) {
        guard lexer.token == .spread else { return try expect(.name) }
        try readFragment()
    }

    /// `FragmentSpread : ... FragmentName Directives?`, `InlineFragment : ... TypeCondition?
    /// Directives? SelectionSet`.
    private mutating func readFragment() throws(SyntaxError) {
        let node = begin(.fragmentSpread)
        try lexer.advance()
        let hasCondition = try takeKeyword("on")
        if !hasCondition, lexer.token == .name {
            try readName(of: node)
            try readDirectives(isConstant: false)
        } else {
            set(node, .inlineFragment)
            if hasCondition { try readName(of: node) }
            try readDirectives(isConstant: false)
            try readSelectionSet()
        }
        finish(node)
    }

    /// `FragmentDefinition : Description? fragment FragmentName TypeCondition
    /// Directives? SelectionSet`.
    mutating func readFragmentDefinition(_ fragment: Int) throws(SyntaxError) {
        set(fragment, .fragmentDefinition)
        try lexer.advance()
        if isKeyword("on") { throw unexpected() }
        try readName(of: fragment)
        try expectKeyword("on")
        _ = try readNamedType()
        try readDirectives(isConstant: false)
        try readSelectionSet()
    }
}
