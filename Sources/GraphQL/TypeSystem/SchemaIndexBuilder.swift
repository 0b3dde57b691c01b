/// Fills the tables of a schema's index.
struct SchemaIndexBuilder {
    private(set) var types: [SchemaIndex.TypeEntry] = []
    private(set) var fields: [SchemaIndex.FieldEntry] = []
    private(set) var inputs: [SchemaIndex.InputEntry] = []
    private(set) var directives: [SchemaIndex.DirectiveEntry] = []
    private(set) var references: [SchemaIndex.ReferenceEntry] = []
    private(set) var writtenReferences: [TypeReference] = []
    private(set) var inputNames: [String] = []
    private(set) var fieldObjects: [Schema.Field] = []
    private(set) var names = NameTable()
    private(set) var possible: [UInt64] = []
    private(set) var rootTypes: [TypeNumber?] = []
    let wordsPerType: Int
    private var typeNumbers: [String: TypeNumber] = [:]
    private var referenceNumbers: [TypeReference: ReferenceNumber] = [:]

    init(_ parts: Schema.Parts) {
        wordsPerType = parts.types.count / 64 + 1
        for (number, type) in parts.types.enumerated() where typeNumbers[type.name] == nil {
            typeNumbers[type.name] = TypeNumber(number)
            names.insert(type.name, in: SchemaIndex.Scope.types, number)
        }
        for (number, type) in parts.types.enumerated() { add(type, TypeNumber(number)) }
        for field in [MetaFields.typename, MetaFields.schema, MetaFields.type] { add(field) }
        for (number, directive) in parts.directives.enumerated() { add(directive, DirectiveNumber(number)) }
        possible = [UInt64](repeating: 0, count: wordsPerType * types.count)
        for (number, type) in parts.types.enumerated() {
            let objects = type.kind == .object ? [type] : parts.possibleTypes[type.name] ?? []
            for object in objects { markPossible(object.name, for: number) }
        }
        rootTypes = [parts.queryType, parts.mutationType, parts.subscriptionType].map { type in
            type.flatMap { typeNumbers[$0.name] }
        }
    }

    private mutating func add(_ type: Schema.NamedType, _ number: TypeNumber) {
        let scope = SchemaIndex.Scope.members(of: number)
        for field in type.fields {
            names.insert(field.name, in: scope, fields.count)
            add(field)
        }
        for value in type.enumValues { names.insert(value.name, in: scope, 0) }
        types.append(
            SchemaIndex.TypeEntry(
                kind: type.kind,
                isOneOf: type.isOneOf,
                scalar: type.kind == .scalar ? SchemaIndex.Scalar(type.name) : nil,
                inputs: add(type.inputFields, in: scope)
            )
        )
    }

    /// Fields come in the order of their own numbers.
    private mutating func add(_ field: Schema.Field) {
        let type = number(of: field.type)
        fields.append(
            SchemaIndex.FieldEntry(
                type: type,
                namedType: references[Int(type.value)].namedType,
                isList: field.type.isList,
                isIntrospection: field.parentName.hasPrefix("__"),
                defaultPageSizes: SchemaIndex.pageArguments.map { field.defaultInteger(of: $0.description) },
                assumedSize: field.assumedSize,
                arguments: add(
                    field.arguments,
                    in: SchemaIndex.Scope.arguments(of: FieldNumber(fields.count))
                )
            )
        )
        fieldObjects.append(field)
    }

    private mutating func add(_ directive: DirectiveDefinition, _ number: DirectiveNumber) {
        names.insert(directive.name, in: SchemaIndex.Scope.directives, directives.count)
        directives.append(
            SchemaIndex.DirectiveEntry(
                locations: directive.locations.reduce(0) { $0 | $1.bit },
                isRepeatable: directive.isRepeatable,
                arguments: add(
                    directive.arguments.map(Schema.InputValue.init),
                    in: SchemaIndex.Scope.arguments(of: number)
                )
            )
        )
    }

    private mutating func add(_ values: [Schema.InputValue], in scope: Int) -> Range<Int32> {
        let start = inputs.count
        for value in values {
            names.insert(value.name, in: scope, inputs.count)
            inputNames.append(value.name)
            inputs.append(
                SchemaIndex.InputEntry(
                    type: number(of: value.type),
                    isRequired: value.isRequired,
                    hasDefault: value.defaultValue != nil
                )
            )
        }
        return Int32(truncatingIfNeeded: start)..<Int32(truncatingIfNeeded: inputs.count)
    }

    private mutating func number(of type: TypeReference) -> ReferenceNumber {
        if let number = referenceNumbers[type] { return number }
        let element = type.element.map { self.number(of: $0) }
        let number = ReferenceNumber(references.count)
        references.append(
            SchemaIndex.ReferenceEntry(
                isNonNull: type.isNonNull,
                element: element,
                namedType: typeNumbers[type.namedType]
            )
        )
        writtenReferences.append(type)
        referenceNumbers[type] = number
        return number
    }

    private mutating func markPossible(_ object: String, for type: Int) {
        guard let number = typeNumbers[object] else { return }
        possible[type * wordsPerType + Int(number.value) / 64] |= 1 << UInt64(Int(number.value) % 64)
    }
}

extension DirectiveLocation {
    /// A bit of its own in a set of locations.
    var bit: UInt32 { 1 << UInt32(Self.allCases.firstIndex(of: self) ?? 0) }
}
