// Input objects (GraphQL §3.10): their fields, and that values of them can be made.
extension SchemaValidator {
    mutating func validateInputFields(of type: Schema.NamedType) {
        if type.inputFields.isEmpty {
            report("Input Object type \(type.name) must define one or more fields.", type.location)
        }
        for field in type.inputFields {
            let coordinate = "\(type.name).\(field.name)"
            validateInput(field, coordinate)
            if field.isRequired, field.deprecationReason != nil {
                report("Required input field \(coordinate) cannot be deprecated.", field.location)
            }
            if type.isOneOf, field.type.isNonNull {
                report("OneOf input field \(coordinate) must be nullable.", field.location)
            }
            if type.isOneOf, field.defaultValue != nil {
                report("OneOf input field \(coordinate) cannot have a default value.", field.location)
            }
        }
    }

    /// No value of an input object may need, or be completed with, another of its own type without
    /// end.
    mutating func validateInputCycles() {
        var needs = InputObjectCycles(schema: schema)
        var defaults = DefaultValueCycles(schema: schema)
        for type in schema.types where type.kind == .inputObject {
            needs.search(type)
            defaults.search(type)
        }
        for (message, location) in needs.found + defaults.found { report(message, location) }
    }
}

/// Finds input objects that need themselves, through fields that must be given.
struct InputObjectCycles {
    let schema: Schema
    private(set) var found: [(String, SourceLocation)] = []
    private var finished: Set<String> = []
    /// The types that led here, and the field taken from each.
    private var path: [(type: String, field: String)] = []
    private var positions: [String: Int] = [:]

    init(schema: Schema) {
        self.schema = schema
    }

    mutating func search(_ type: Schema.NamedType) {
        guard finished.insert(type.name).inserted else { return }
        guard path.count < 200 else {
            return found.append(("Input Object \"\(type.name)\" is needed too deep inside others.", type.location))
        }
        positions[type.name] = path.count
        for field in type.inputFields {
            guard case .nonNull(.named(let name)) = field.type, let next = schema.type(named: name),
                next.kind == .inputObject
            else { continue }
            path.append((type.name, field.name))
            if let start = positions[name] {
                let fields = path[start...].map(\.field).joined(separator: ".")
                let message =
                    "Cannot reference Input Object \"\(name)\" within itself through a series of non-null fields"
                found.append(("\(message): \"\(fields)\".", field.location))
            } else {
                search(next)
            }
            path.removeLast()
        }
        positions[type.name] = nil
    }
}

/// Finds default values of input objects' fields that are completed with themselves (GraphQL §3.10
/// InputObjectDefaultValueHasCycle).
struct DefaultValueCycles {
    let schema: Schema
    private(set) var found: [(String, SourceLocation)] = []
    /// Fields whose default values were followed to their ends.
    private var finished: Set<String> = []
    /// The coordinates of the fields whose default values led here.
    private var path: [String] = []

    init(schema: Schema) {
        self.schema = schema
    }

    /// Follows the default values an empty object of this type is completed with.
    mutating func search(_ type: Schema.NamedType) {
        for field in type.inputFields { follow(field, of: type) }
    }

    private mutating func follow(_ value: Value, as type: Schema.NamedType) {
        switch value.kind {
        case .list(let values): for item in values { follow(item, as: type) }
        case .object(let given):
            for field in type.inputFields {
                if let value = given.first(where: { $0.name == field.name })?.value {
                    if let type = inputObject(field.type) { follow(value, as: type) }
                } else {
                    follow(field, of: type)
                }
            }
        default: break
        }
    }

    private mutating func follow(_ field: Schema.InputValue, of type: Schema.NamedType) {
        let coordinate = "\(type.name).\(field.name)"
        guard let value = field.defaultValue, let inner = inputObject(field.type) else { return }
        if let start = path.firstIndex(of: coordinate) {
            let cycle = path[start...].joined(separator: ", ")
            return found.append(
                ("The default value of \(coordinate) contains itself, through \(cycle).", field.location)
            )
        }
        guard path.count < 200 else {
            return found.append(("The default value of \(coordinate) is nested too deep.", field.location))
        }
        guard finished.insert(coordinate).inserted else { return }
        path.append(coordinate)
        follow(value, as: inner)
        path.removeLast()
    }

    private func inputObject(_ type: TypeReference) -> Schema.NamedType? {
        schema.type(named: type.namedType).flatMap { $0.kind == .inputObject ? $0 : nil }
    }
}
