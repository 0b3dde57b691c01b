import JSON

/// The second half of execution: writes what was resolved, depth first, into one buffer (GraphQL §6.4.3, §6.4.4).
///
/// Functions that write a value return `false` when a null stands where none may: then what they have written is
/// worthless, and the nearest place that takes a null cuts the buffer back and writes it.
struct ResponseWriter {
    private let request: PreparedRequest
    private let groups: [Group]
    private let serializations: [String: ScalarCoercion]
    private let maximumErrors: Int
    private var out: LeafWriter
    private(set) var errors: [GraphQLError] = []
    private var path: [PathElement] = []
    /// What to do for each field of each selection, looked up once for all rows.
    private let steps: [[Step]]

    /// A group whose parents' type is forgotten.
    struct Group {
        let selection: Int
        let parents: AnyObject
        let columns: [[Cell]?]
    }

    /// What to do for one field of a row.
    ///
    /// A class, so that walking over the steps of every row copies nothing.
    final class Step {
        let field: PlannedField
        let action: Action

        enum Action {
            case leaf(ErasedLeaf, LeafWriter.DirectForm)
            case column
            case typename(String)
            case introspection
        }

        init(field: PlannedField, action: Action) {
            self.field = field
            self.action = action
        }
    }

    init<Object: Sendable, Context: Sendable>(_ resolver: LevelResolver<Object, Context>, maximumErrors: Int) {
        let (request, executable) = (resolver.request, resolver.executable)
        self.request = request
        self.maximumErrors = maximumErrors
        groups = resolver.groups.map { group in
            Group(selection: group.selection, parents: ParentColumn(group.parents), columns: group.columns)
        }
        let fields = resolver.groups.reduce(0) { $0 + $1.parents.count * ($1.columns.count + 1) }
        out = LeafWriter(capacity: 128 + fields * 32)
        let (leaves, serializations) = (executable.leaves, executable.map.serializations)
        self.serializations = serializations
        steps = request.fields.enumerated().map { number, fields in
            let type = request.tree.selections[number].type
            return fields.map { Step(field: $0, action: Self.action($0, type, leaves, serializations)) }
        }
    }

    private static func action(
        _ field: PlannedField,
        _ type: Schema.NamedType,
        _ leaves: [ErasedLeaf?],
        _ serializations: [String: ScalarCoercion]
    ) -> Step.Action {
        switch field.kind {
        case .typename: return .typename(type.name)
        case .introspectSchema, .introspectType: return .introspection
        case .object, .abstract: return .column
        case .leaf(let kind):
            guard let write = leaves[field.field.index] else { return .column }
            if case .custom(let name) = kind, serializations[name] != nil { return .leaf(write, .none) }
            return .leaf(write, field.shape.isList ? .none : LeafWriter.DirectForm(kind))
        }
    }

    /// The whole response object.
    mutating func response(_ options: ExecutionOptions) -> [UInt8] {
        out.json.raw("{\"data\":")
        let start = out.json.count
        if !writeObject(group: 0, row: 0) {
            out.json.truncate(to: start)
            out.json.null()
        }
        if !errors.isEmpty {
            out.json.byte(UInt8(ascii: ","))
            ExecutionResult.write(errors, to: &out.json, options)
        }
        out.json.byte(UInt8(ascii: "}"))
        return out.json.bytes
    }

    private mutating func writeObject(group: Int, row: Int) -> Bool {
        let steps = steps[groups[group].selection]
        let parents = groups[group].parents
        out.json.byte(UInt8(ascii: "{"))
        for index in steps.indices {
            let step = steps[index]
            let field = step.field
            out.json.raw(bytes: index == 0 ? field.keyBytes : field.furtherKeyBytes)
            switch step.action {
            case .leaf(let write, let form):
                out.begin(form)
                write(parents, row, &out)
                if case .written = out.outcome { continue }
                guard finishLeaf(field) else { return false }
            case .column:
                guard let column = groups[group].columns[index] else { return writeMissing(field) }
                guard writeColumn(column[row], of: field) else { return false }
            case .typename(let name): out.json.string(name)
            case .introspection:
                guard writeIntrospection(field) else { return false }
            }
        }
        out.json.byte(UInt8(ascii: "}"))
        return true
    }

    private mutating func writeColumn(_ cell: Cell, of field: PlannedField) -> Bool {
        path.append(.key(field.responseKey))
        let isWritten = writeCell(cell, of: field, level: 0)
        path.removeLast()
        return isWritten
    }

    private mutating func writeMissing(_ field: PlannedField) -> Bool {
        writeColumn(.failure(GraphQLError("\(field.field.coordinate) was not resolved.")), of: field)
    }

    private mutating func finishLeaf(_ field: PlannedField) -> Bool {
        path.append(.key(field.responseKey))
        defer { path.removeLast() }
        switch out.outcome {
        case .written: return true
        case .nothing, .null: return writeNull(field, level: 0)
        case .pending(let value): return writeLeaf(value, of: field, level: 0)
        case .failed(let error): return failed(error, field, level: 0)
        }
    }

    /// CompleteValue: the level counts the lists the value stands in.
    private mutating func writeCell(_ cell: Cell, of field: PlannedField, level: Int) -> Bool {
        switch cell {
        case .null: return writeNull(field, level: level)
        case .failure(let error): return failed(error, field, level: level)
        case .leaf(let value):
            guard case .leaf = field.kind else {
                if value.isNull { return writeNull(field, level: level) }
                let isInnermost = level == field.shape.nonNull.count - 1
                let wrong = GraphQLError("\(field.field.coordinate) expects an object.")
                return failed(isInnermost ? wrong : Self.notIterable(field), field, level: level)
            }
            return writeLeaf(value, of: field, level: level)
        case .list(let cells):
            guard level < field.shape.nonNull.count - 1 else {
                return failed(GraphQLError("\(field.field.coordinate) expects no list."), field, level: level)
            }
            return writeList(cells, of: field, level: level) { writer, cell in
                writer.writeCell(cell, of: field, level: level + 1)
            }
        case .object(let group, let row):
            guard level == field.shape.nonNull.count - 1 else {
                return failed(Self.notIterable(field), field, level: level)
            }
            let start = out.json.count
            if writeObject(group: group, row: row) { return true }
            return replaceByNull(from: start, field, level: level)
        }
    }

    private mutating func writeLeaf(_ value: JSONValue, of field: PlannedField, level: Int) -> Bool {
        if value.isNull { return writeNull(field, level: level) }
        guard level == field.shape.nonNull.count - 1 else {
            guard case .array(let values) = value else { return failed(Self.notIterable(field), field, level: level) }
            return writeList(values, of: field, level: level) { writer, value in
                writer.writeLeaf(value, of: field, level: level + 1)
            }
        }
        do throws(CoercionError) {
            out.json.value(try serialized(value, field))
            return true
        } catch {
            return failed(GraphQLError(error.message), field, level: level)
        }
    }

    private mutating func writeList<Element>(
        _ elements: [Element],
        of field: PlannedField,
        level: Int,
        _ write: (inout Self, Element) -> Bool
    ) -> Bool {
        let start = out.json.count
        out.json.byte(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { out.json.byte(UInt8(ascii: ",")) }
            path.append(.index(index))
            let isWritten = write(&self, element)
            path.removeLast()
            guard isWritten else { return replaceByNull(from: start, field, level: level) }
        }
        out.json.byte(UInt8(ascii: "]"))
        return true
    }
}

// Nulls and errors.
extension ResponseWriter {
    private mutating func writeNull(_ field: PlannedField, level: Int) -> Bool {
        if field.shape.nonNull[level] {
            report(GraphQLError("Cannot return null for non-nullable field \(field.field.coordinate)."), field)
            return false
        }
        out.json.null()
        return true
    }

    private mutating func failed(_ error: GraphQLError, _ field: PlannedField, level: Int) -> Bool {
        report(error, field)
        if field.shape.nonNull[level] { return false }
        out.json.null()
        return true
    }

    /// What is below has failed and said why.
    private mutating func replaceByNull(from start: Int, _ field: PlannedField, level: Int) -> Bool {
        if field.shape.nonNull[level] { return false }
        out.json.truncate(to: start)
        out.json.null()
        return true
    }

    private mutating func report(_ error: GraphQLError, _ field: PlannedField) {
        guard errors.count < maximumErrors else { return }
        var error = error
        if error.locations.isEmpty { error.locations = request.locations(of: field) }
        error.path = path
        errors.append(error)
    }

    private static func notIterable(_ field: PlannedField) -> GraphQLError {
        GraphQLError("Expected Iterable, but did not find one for field \"\(field.field.coordinate)\".")
    }

    private func serialized(_ value: JSONValue, _ field: PlannedField) throws(CoercionError) -> JSONValue {
        guard case .leaf(let kind) = field.kind else { return value }
        switch kind {
        case .builtIn(let scalar): return try scalar.serialize(value)
        case .custom(let name): return try serializations[name]?(value) ?? value
        case .enumeration(let name, let values):
            guard let text = value.stringValue, values.contains(text) else {
                throw CoercionError("Enum \"\(name)\" cannot represent value: \(BuiltInScalar.text(value))")
            }
            return value
        }
    }

    private mutating func writeIntrospection(_ field: PlannedField) -> Bool {
        let writer = IntrospectionWriter(request: request)
        do throws(GraphQLError) {
            try writer.write(field, to: &out.json)
            return true
        } catch {
            path.append(.key(field.responseKey))
            defer { path.removeLast() }
            return failed(error, field, level: 0)
        }
    }
}
