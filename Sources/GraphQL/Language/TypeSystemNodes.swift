/// `schema { query: Query }`, or its extension (GraphQL §3.3).
public struct SchemaDefinition: Sendable {
    /// What its author says about it.
    public var description: StringValue?
    /// Directives on it.
    public var directives: [Directive]
    /// The root types it names.
    public var rootTypes: [RootTypeDefinition]
    /// Where it begins, after its description.
    public var location: SourceLocation
}

/// A line of a schema definition.
public struct RootTypeDefinition: Sendable {
    /// The kind of operations it serves.
    public var kind: OperationKind
    /// The name of the root type.
    public var type: String
    /// Where it begins, after its description.
    public var location: SourceLocation
}

/// `scalar Name`, or its extension (GraphQL §3.5).
public struct ScalarTypeDefinition: Sendable {
    /// What its author says about it.
    public var description: StringValue?
    /// Its name.
    public var name: String
    /// Directives on it.
    public var directives: [Directive]
    /// Where it begins, after its description.
    public var location: SourceLocation
}

/// `type Name { … }`, or its extension (GraphQL §3.6).
public struct ObjectTypeDefinition: Sendable {
    /// What its author says about it.
    public var description: StringValue?
    /// Its name.
    public var name: String
    /// The interfaces it implements.
    public var interfaces: [String]
    /// Directives on it.
    public var directives: [Directive]
    /// Its fields in order.
    public var fields: [FieldDefinition]
    /// Where it begins, after its description.
    public var location: SourceLocation
}

/// A field of an object or interface type.
public struct FieldDefinition: Sendable {
    /// What its author says about it.
    public var description: StringValue?
    /// Its name.
    public var name: String
    /// Its arguments in order.
    public var arguments: [InputValueDefinition]
    /// Its type.
    public var type: TypeReference
    /// Directives on it.
    public var directives: [Directive]
    /// Where it begins, after its description.
    public var location: SourceLocation
}

/// An argument, or a field of an input object (GraphQL §3.6.1, §3.10).
public struct InputValueDefinition: Sendable {
    /// What its author says about it.
    public var description: StringValue?
    /// Its name.
    public var name: String
    /// Its type.
    public var type: TypeReference
    /// Its value when none is given.
    public var defaultValue: Value?
    /// Directives on it.
    public var directives: [Directive]
    /// Where it begins, after its description.
    public var location: SourceLocation
}

/// `interface Name { … }`, or its extension, with the parts of an object type (GraphQL §3.7).
public typealias InterfaceTypeDefinition = ObjectTypeDefinition

/// `union Name = A | B`, or its extension (GraphQL §3.8).
public struct UnionTypeDefinition: Sendable {
    /// What its author says about it.
    public var description: StringValue?
    /// Its name.
    public var name: String
    /// Directives on it.
    public var directives: [Directive]
    /// The names of its members in order.
    public var members: [String]
    /// Where it begins, after its description.
    public var location: SourceLocation
}

/// `enum Name { … }`, or its extension (GraphQL §3.9).
public struct EnumTypeDefinition: Sendable {
    /// What its author says about it.
    public var description: StringValue?
    /// Its name.
    public var name: String
    /// Directives on it.
    public var directives: [Directive]
    /// Its values in order.
    public var values: [EnumValueDefinition]
    /// Where it begins, after its description.
    public var location: SourceLocation
}

/// A value of an enum type.
public struct EnumValueDefinition: Sendable {
    /// What its author says about it.
    public var description: StringValue?
    /// Its name.
    public var name: String
    /// Directives on it.
    public var directives: [Directive]
    /// Where it begins, after its description.
    public var location: SourceLocation
}

/// `input Name { … }`, or its extension (GraphQL §3.10).
public struct InputObjectTypeDefinition: Sendable {
    /// What its author says about it.
    public var description: StringValue?
    /// Its name.
    public var name: String
    /// Directives on it.
    public var directives: [Directive]
    /// Its fields in order.
    public var fields: [InputValueDefinition]
    /// Where it begins, after its description.
    public var location: SourceLocation
}

/// `directive @name(…) repeatable on A | B` (GraphQL §3.13).
public struct DirectiveDefinition: Sendable {
    /// What its author says about it.
    public var description: StringValue?
    /// Its name.
    public var name: String
    /// Its arguments in order.
    public var arguments: [InputValueDefinition]
    /// Whether it may stand more than once at one location.
    public var isRepeatable: Bool
    /// Where it may stand.
    public var locations: [DirectiveLocation]
    /// Where it begins, after its description.
    public var location: SourceLocation
}
