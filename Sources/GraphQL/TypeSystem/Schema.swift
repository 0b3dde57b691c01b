import JSON

/// A type system: what may be asked, and of which shape the answers are (GraphQL §3.3).
///
/// Built from SDL, checked, and never changed afterwards. Types, fields and values keep the
/// directives that were applied to them, with their arguments.
public final class Schema: Sendable {
    /// What its author says about it.
    public let description: String?
    /// All types in the order they were defined, the built-in ones last.
    public let types: [NamedType]
    /// All directives in the order they were defined, the built-in ones last.
    public let directives: [DirectiveDefinition]
    /// The type of the root of queries.
    public let queryType: NamedType
    /// The type of the root of mutations.
    public let mutationType: NamedType?
    /// The type of the root of subscriptions.
    public let subscriptionType: NamedType?
    /// The directives applied to the schema itself.
    public let appliedDirectives: [Directive]

    let parts: Parts
    /// The same as numbers, for validation and planning.
    let index: SchemaIndex
    /// How custom scalars check and convert what clients send, by the scalar's name.
    let scalarCoercions: [String: ScalarCoercion]

    init(parts: Parts, index: SchemaIndex? = nil, scalarCoercions: [String: ScalarCoercion] = [:]) {
        self.parts = parts
        self.index = index ?? SchemaIndex(SchemaIndexBuilder(parts))
        self.scalarCoercions = scalarCoercions
        description = parts.definition.description?.value
        types = parts.types
        directives = parts.directives
        queryType = parts.queryType
        mutationType = parts.mutationType
        subscriptionType = parts.subscriptionType
        appliedDirectives = parts.definition.directives
    }

    /// The type of this name.
    public func type(named name: String) -> NamedType? {
        number(ofType: name).map { types[Int($0.value)] }
    }

    /// The number of the type of this name, which is its index among the types.
    func number(ofType name: String) -> TypeNumber? {
        var name = name
        return name.withUTF8 { name in
            name.baseAddress.flatMap { index.type(named: NameSlice(start: $0, length: name.count)) }
        }
    }

    /// The index of an input object's field among its fields.
    func fieldIndex(ofInput name: String, of type: TypeNumber) -> Int? {
        var name = name
        let number = name.withUTF8 { name in
            name.baseAddress.flatMap { index.inputField(named: NameSlice(start: $0, length: name.count), of: type) }
        }
        return number.map { Int($0.value - index[type].inputs.lowerBound) }
    }

    /// The definition of a directive.
    public func directive(named name: String) -> DirectiveDefinition? {
        parts.directivesByName[name]
    }

    /// The object types a value of this type can have: itself, the members of a union, or an
    /// interface's implementations.
    public func possibleTypes(of type: NamedType) -> [NamedType] {
        type.kind == .object ? [type] : parts.possibleTypes[type.name] ?? []
    }

    /// The same schema with other rules for what custom scalars take.
    func coercing(_ coercions: [String: ScalarCoercion]) -> Schema {
        Schema(parts: parts, index: index, scalarCoercions: coercions)
    }

    /// The schema as SDL, with descriptions and applied directives, without what is built in.
    public func printed() -> String {
        Printer.definitions(parts.definitions) + "\n"
    }

    /// What the copies of one schema share; a class, so that plans can ask
    /// whether they belong to it.
    final class Parts: Sendable {
        let definition: SchemaDefinition
        let definitions: [Definition]
        let types: [NamedType]
        let typesByName: [String: NamedType]
        let directives: [DirectiveDefinition]
        let directivesByName: [String: DirectiveDefinition]
        let possibleTypes: [String: [NamedType]]
        let fieldCount: Int
        let queryType: NamedType
        let mutationType: NamedType?
        let subscriptionType: NamedType?

        init(_ draft: SchemaDraft, types: [NamedType], queryType: NamedType, fieldCount: Int) {
            definition = draft.schema
            definitions = draft.printedDefinitions
            self.types = types
            typesByName = Dictionary(types.map { ($0.name, $0) }) { first, _ in first }
            directives = draft.directives
            directivesByName = Dictionary(draft.directives.map { ($0.name, $0) }) { first, _ in first }
            possibleTypes = Self.possibleTypes(types)
            self.fieldCount = fieldCount
            self.queryType = queryType
            mutationType = draft.rootTypeName(.mutation).flatMap { [typesByName] in typesByName[$0] }
            subscriptionType = draft.rootTypeName(.subscription).flatMap { [typesByName] in typesByName[$0] }
        }

        private static func possibleTypes(_ types: [NamedType]) -> [String: [NamedType]] {
            var result: [String: [NamedType]] = [:]
            let objects = types.filter { $0.kind == .object }
            for object in objects {
                for interface in object.interfaces { result[interface, default: []].append(object) }
            }
            let objectsByName = Dictionary(objects.map { ($0.name, $0) }) { first, _ in first }
            for union in types where union.kind == .union {
                result[union.name] = union.members.compactMap { objectsByName[$0] }
            }
            return result
        }
    }
}

/// Checks and converts one value a client sent for a custom scalar.
typealias ScalarCoercion = @Sendable (JSONValue) throws(CoercionError) -> JSONValue

/// Why a value does not fit a type, as a sentence.
public struct CoercionError: Error, Sendable, Hashable {
    /// What was expected and what was found.
    public let message: String

    /// A refusal in these words.
    public init(_ message: String) {
        self.message = message
    }
}
