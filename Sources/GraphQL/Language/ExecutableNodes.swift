/// What an operation does.
public enum OperationKind: String, Sendable, Hashable, CaseIterable {
    /// Reads.
    case query
    /// Changes, then reads.
    case mutation
    /// Follows a stream of events.
    case subscription
}

/// One operation (GraphQL §2.4).
public struct OperationDefinition: Sendable {
    /// What its author says about it.
    public var description: StringValue?
    /// What it does.
    public var kind: OperationKind
    /// Its name, if it has one.
    public var name: String?
    /// The variables it declares.
    public var variables: [VariableDefinition]
    /// Directives on the operation.
    public var directives: [Directive]
    /// What it selects from the root.
    public var selectionSet: SelectionSet
    /// Where it begins.
    public var location: SourceLocation
    /// Where its name stands, or where it begins when it has none.
    public var nameLocation: SourceLocation
}

/// A variable an operation declares (GraphQL §2.11).
public struct VariableDefinition: Sendable {
    /// What its author says about it.
    public var description: StringValue?
    /// Its name without the dollar sign.
    public var name: String
    /// Its type.
    public var type: TypeReference
    /// Its value when none is given.
    public var defaultValue: Value?
    /// Directives on the variable.
    public var directives: [Directive]
    /// Where it begins.
    public var location: SourceLocation
    /// Where its type begins.
    public var typeStart: SourceLocation
    /// Where the name inside its type stands.
    public var typeLocation: SourceLocation
}

/// Fields and fragments between braces (GraphQL §2.5).
public struct SelectionSet: Sendable {
    /// What is selected, in order.
    public var selections: [Selection]
    /// Where the opening brace stands.
    public var location: SourceLocation
}

/// One selection (GraphQL §2.5).
public enum Selection: Sendable {
    /// A field.
    case field(Field)
    /// A named fragment put in here.
    case fragmentSpread(FragmentSpread)
    /// Selections under a condition.
    case inlineFragment(InlineFragment)
}

/// A selected field (GraphQL §2.6).
public struct Field: Sendable {
    /// The name it shall have in the response, if not its own.
    public var alias: String?
    /// Its name in the schema.
    public var name: String
    /// Its arguments in order.
    public var arguments: [ArgumentNode]
    /// Directives on the field.
    public var directives: [Directive]
    /// What is selected of its value.
    public var selectionSet: SelectionSet?
    /// Where it begins; no two fields of one document share it.
    public var location: SourceLocation

    /// The name it has in the response.
    public var responseKey: String { alias ?? name }
}

/// A name and a value given to a field or a directive (GraphQL §2.7).
public struct ArgumentNode: Sendable {
    /// The argument's name.
    public var name: String
    /// The value given.
    public var value: Value
    /// Where it begins.
    public var location: SourceLocation
}

/// `...Name` (GraphQL §2.9).
public struct FragmentSpread: Sendable {
    /// The fragment's name.
    public var name: String
    /// Directives on the spread.
    public var directives: [Directive]
    /// Where it begins.
    public var location: SourceLocation
    /// Where the name stands.
    public var nameLocation: SourceLocation
}

/// A fragment written in place, with or without a type of its own (GraphQL §2.9.2).
public struct InlineFragment: Sendable {
    /// The type it applies to; `nil` for any.
    public var typeCondition: String?
    /// Directives on the fragment.
    public var directives: [Directive]
    /// What it selects.
    public var selectionSet: SelectionSet
    /// Where it begins.
    public var location: SourceLocation
    /// Where the type condition's name stands, or where it begins when it has none.
    public var typeConditionLocation: SourceLocation
}

/// `fragment Name on Type { … }` (GraphQL §2.9).
public struct FragmentDefinition: Sendable {
    /// What its author says about it.
    public var description: StringValue?
    /// Its name.
    public var name: String
    /// The type it applies to.
    public var typeCondition: String
    /// Directives on the fragment.
    public var directives: [Directive]
    /// What it selects.
    public var selectionSet: SelectionSet
    /// Where it begins.
    public var location: SourceLocation
    /// Where its name stands.
    public var nameLocation: SourceLocation
    /// Where the type condition's name stands.
    public var typeConditionLocation: SourceLocation
}

/// `@name(argument: value)` (GraphQL §2.13).
public struct Directive: Sendable {
    /// Its name without the at sign.
    public var name: String
    /// Its arguments in order.
    public var arguments: [ArgumentNode]
    /// Where it begins.
    public var location: SourceLocation

    /// The value given to an argument, or `nil` when none was.
    public func argument(_ name: String) -> Value? {
        arguments.first { $0.name == name }?.value
    }
}
