/// Finds the resolver of every field that can be reached from the roots.
struct ResolverBinding {
    let schema: Schema
    let map: ErasedResolvers
    private(set) var resolvers: [ErasedResolver?]
    private(set) var problems: [String] = []

    init(schema: Schema, map: ErasedResolvers) {
        self.schema = schema
        self.map = map
        resolvers = Array(repeating: nil, count: schema.parts.fieldCount)
    }

    mutating func bind() {
        for type in reachableTypes() {
            if type.kind == .object { for field in type.fields { bind(field, of: type) } }
            if type.isAbstract, map.namings[type.name] == nil, map.defaultNaming == nil {
                problems.append("\(type.name) has no function that names the object type of its values.")
            }
            checkDefaults(of: type)
        }
        for coordinate in map.resolvers.keys.sorted() where !isKnown(coordinate) {
            problems.append("\(coordinate) has a resolver, but the schema has no such field.")
        }
        for coordinate in map.sources.keys.sorted() where !isSubscription(coordinate) {
            problems.append("\(coordinate) has a source of events, but is no field of the subscription type.")
        }
        for name in (Array(map.coercions.keys) + map.serializations.keys).sorted()
        where schema.type(named: name)?.kind != .scalar {
            problems.append("\(name) has a scalar's functions, but the schema has no such scalar.")
        }
    }

    private mutating func bind(_ field: Schema.Field, of type: Schema.NamedType) {
        let own = map.resolvers[field.coordinate]
        let inherited = type.interfaces.lazy.compactMap { [map] in map.resolvers["\($0).\(field.name)"] }.first
        guard let resolver = own ?? inherited ?? map.defaultResolver else {
            // What the root of subscriptions gives comes from events, not from resolvers.
            if type !== schema.subscriptionType { problems.append("\(field.coordinate) has no resolver.") }
            return
        }
        if case .leaf = resolver, schema.type(named: field.type.namedType)?.isLeaf != true {
            problems.append("\(field.coordinate) is no leaf; register its resolver with value or batch.")
        }
        resolvers[field.index] = resolver
    }

    private func isKnown(_ coordinate: String) -> Bool {
        let parts = coordinate.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return parts.count == 2 && schema.type(named: parts[0])?.field(named: parts[1]) != nil
    }

    private func isSubscription(_ coordinate: String) -> Bool {
        schema.subscriptionType?.fields.contains { $0.coordinate == coordinate } ?? false
    }

    /// GraphQL §3.6.1: default values fit their types.
    ///
    /// Checked here because coercion knows the custom scalars.
    private mutating func checkDefaults(of type: Schema.NamedType) {
        let coercion = LiteralCoercion(schema: schema.coercing(map.coercions))
        for value in type.inputFields {
            guard let literal = value.defaultValue, coercion.coerce(literal, to: value.type) == nil else { continue }
            problems.append(
                "\(type.name).\(value.name) has a default that is no \(value.type): \(printValue(literal))."
            )
        }
        for field in type.fields {
            for value in field.arguments {
                guard let literal = value.defaultValue, coercion.coerce(literal, to: value.type) == nil else {
                    continue
                }
                let coordinate = "\(field.coordinate)(\(value.name):)"
                problems.append("\(coordinate) has a default that is no \(value.type): \(printValue(literal)).")
            }
        }
    }

    private func reachableTypes() -> [Schema.NamedType] {
        var found = [schema.queryType, schema.mutationType, schema.subscriptionType].compactMap { $0 }
        var seen = Set(found.map(\.name))
        var next = 0
        while next < found.count {
            let type = found[next]
            var names = type.fields.map(\.type.namedType) + type.interfaces
            names += type.fields.flatMap(\.arguments).map(\.type.namedType) + type.inputFields.map(\.type.namedType)
            names += schema.possibleTypes(of: type).map(\.name)
            for name in names where seen.insert(name).inserted {
                if let type = schema.type(named: name) { found.append(type) }
            }
            next += 1
        }
        return found
    }
}
