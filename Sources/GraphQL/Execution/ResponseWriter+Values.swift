import JSON

// Leaves, lists, nulls and errors.
extension ResponseWriter {
    mutating func writeLeaf(_ value: JSONValue, _ step: Int, level: Int) -> Bool {
        if value.isNull { return writeNull(step, level: level) }
        guard case .leaf(let kind) = steps.memory[step].field.kind else {
            let isInnermost = level == steps.memory[step].listDepth
            return fail(isInnermost ? unexpectedLeaf(step) : notIterable(step), step, level: level)
        }
        guard level == steps.memory[step].listDepth else {
            guard case .array(let values) = value else { return fail(notIterable(step), step, level: level) }
            return writeList(values.count, step, level: level) { writer, index in
                writer.writeLeaf(values[index], step, level: level + 1)
            }
        }
        do throws(CoercionError) {
            write(try serialized(value, kind))
            return true
        } catch {
            return fail(GraphQLError(error.message), step, level: level)
        }
    }

    private mutating func write(_ value: JSONValue) {
        switch value {
        case .string(let text): out.buffer.string(text)
        case .int(let number): out.buffer.int(number)
        case .bool(let flag): out.buffer.raw(flag ? "true" : "false")
        case .double(let number) where number.isFinite: out.buffer.double(number)
        case .null, .double: out.buffer.raw("null")
        case .array, .object: value.serialized().withUnsafeBytes { out.buffer.raw($0) }
        }
    }

    private func serialized(_ value: JSONValue, _ kind: LeafKind) throws(CoercionError) -> JSONValue {
        switch kind {
        case .builtIn(let scalar): return try scalar.serialize(value)
        case .custom(let name): return try steps.bindings.erased.serializations[name]?(value) ?? value
        case .enumeration(let name, let values):
            guard let text = value.stringValue, values.contains(text) else {
                throw CoercionError("Enum \"\(name)\" cannot represent value: \(BuiltInScalar.text(value))")
            }
            return value
        }
    }

    mutating func writeList(
        _ count: Int,
        _ step: Int,
        level: Int,
        _ write: (inout Self, Int) -> Bool
    ) -> Bool {
        let start = out.buffer.count
        out.buffer.byte(UInt8(ascii: "["))
        for index in 0..<count {
            if index > 0 { out.buffer.byte(UInt8(ascii: ",")) }
            path.append(.index(index))
            let isWritten = write(&self, index)
            path.removeLast()
            guard isWritten else { return replaceByNull(from: start, step, level: level) }
        }
        out.buffer.byte(UInt8(ascii: "]"))
        return true
    }

    mutating func writeIntrospection(_ step: Int) -> Bool {
        let writer = IntrospectionWriter(request: request)
        var json = JSONWriter(capacity: 4096)
        do throws(GraphQLError) {
            try writer.write(steps.memory[step].field, to: &json)
            json.bytes.withUnsafeBytes { out.buffer.raw($0) }
            return true
        } catch {
            path.append(.field(step))
            defer { path.removeLast() }
            return fail(error, step, level: 0)
        }
    }

    mutating func writeNull(_ step: Int, level: Int) -> Bool {
        guard !steps.memory[step].isNonNull(level) else {
            let coordinate = steps.memory[step].field.field.coordinate
            report(GraphQLError("Cannot return null for non-nullable field \(coordinate)."), step)
            return false
        }
        out.buffer.raw("null")
        return true
    }

    mutating func fail(_ error: GraphQLError, _ step: Int, level: Int) -> Bool {
        report(error, step)
        if steps.memory[step].isNonNull(level) { return false }
        out.buffer.raw("null")
        return true
    }

    /// What is below has failed and said why.
    mutating func replaceByNull(from start: Int, _ step: Int, level: Int) -> Bool {
        if steps.memory[step].isNonNull(level) { return false }
        out.buffer.truncate(to: start)
        out.buffer.raw("null")
        return true
    }

    private mutating func report(_ error: GraphQLError, _ step: Int) {
        guard errors.count < maximumErrors else { return }
        var error = error
        if error.locations.isEmpty { error.locations = request.locations(of: steps.memory[step].field) }
        error.path = path.map { part in
            switch part {
            case .field(let step): .key(steps.memory[step].field.responseKey)
            case .index(let index): .index(index)
            }
        }
        errors.append(error)
    }

    func notIterable(_ step: Int) -> GraphQLError {
        let coordinate = steps.memory[step].field.field.coordinate
        return GraphQLError("Expected Iterable, but did not find one for field \"\(coordinate)\".")
    }

    func unexpectedList(_ step: Int) -> GraphQLError {
        GraphQLError("\(steps.memory[step].field.field.coordinate) expects no list.")
    }

    private func unexpectedLeaf(_ step: Int) -> GraphQLError {
        GraphQLError("\(steps.memory[step].field.field.coordinate) expects an object.")
    }
}
