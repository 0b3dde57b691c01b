import JSON

/// The second half of execution: writes what was resolved, depth first, into one buffer
/// (GraphQL §6.4.3, §6.4.4).
///
/// A function that writes a value returns `false` when a null stands where none may. What it has
/// written is worthless then: the nearest field that takes a null cuts the buffer back and writes
/// null.
struct ResponseWriter: ~Copyable {
    let request: PreparedRequest
    let steps: PlanSteps
    /// Where the resolver has it, which outlives this.
    let state: UnsafePointer<ExecutionState>
    let maximumErrors: Int
    var out: LeafWriter
    var errors: [GraphQLError] = []
    var path: [PathStep] = []

    /// One step of the path to what is being written, turned into words
    /// only when there is an error.
    enum PathStep {
        case field(Int)
        case index(Int)
    }

    private init(
        _ resolver: LevelResolver,
        _ state: UnsafePointer<ExecutionState>,
        _ buffer: consuming ResponseBuffer,
        maximumErrors: Int
    ) {
        request = resolver.request
        steps = resolver.steps
        self.state = state
        self.maximumErrors = maximumErrors
        out = LeafWriter(buffer)
    }

    /// The response to what was resolved.
    static func response(_ resolver: LevelResolver, _ options: ExecutionOptions) -> ExecutionResult {
        var moved: [UInt8]?
        var errors: [GraphQLError] = []
        var isTooLarge = false
        let bytes = [UInt8](unsafeUninitializedCapacity: resolver.steps.expectedLength) { memory, count in
            withUnsafePointer(to: resolver.state) { state in
                let memory = UnsafeMutableRawBufferPointer(memory)
                let buffer = ResponseBuffer(lending: memory, limit: options.maximumBytes)
                var writer = ResponseWriter(resolver, state, buffer, maximumErrors: options.maximumErrors)
                writer.writeResponse(options)
                errors = writer.errors
                isTooLarge = writer.out.buffer.isOverflown
                guard !isTooLarge else { return }
                resolver.steps.note(length: writer.out.buffer.count)
                if writer.out.buffer.hasMoved {
                    moved = Array(writer.out.buffer.bytes)
                } else {
                    count = writer.out.buffer.count
                }
            }
        }
        guard !isTooLarge else {
            let error = GraphQLError(
                "The response would have more than \(options.maximumBytes) bytes; ask for less at once."
            )
            return ExecutionResult(refused: RequestErrors(kind: .size, errors: [error]), options: options)
        }
        return ExecutionResult(bytes: moved ?? bytes, errors: errors)
    }

    private mutating func writeResponse(_ options: ExecutionOptions) {
        out.buffer.raw("{\"data\":")
        let start = out.buffer.count
        if !writeObject(group: 0, row: 0) {
            out.buffer.truncate(to: start)
            out.buffer.raw("null")
        }
        if !errors.isEmpty {
            var json = JSONWriter()
            json.byte(UInt8(ascii: ","))
            ExecutionResult.write(errors, to: &json, options)
            json.bytes.withUnsafeBytes { out.buffer.raw($0) }
        }
        out.buffer.byte(UInt8(ascii: "}"))
    }

    private mutating func writeObject(group: Int, row: Int) -> Bool {
        let group = state.pointee.groups.at(group)
        guard let rows = group.pointee.rows else { return false }
        let (selection, firstColumn) = (group.pointee.selection, group.pointee.firstColumn)
        return writeRow(steps.ranges[selection], rows.base + row * rows.stride, firstColumn: firstColumn, row: row)
    }

    /// A list of objects that stand one after the other in their group.
    private mutating func writeObjects(group: Int, rows: Range<Int>, of step: Int, level: Int) -> Bool {
        let start = out.buffer.count
        out.buffer.byte(UInt8(ascii: "["))
        let group = state.pointee.groups.at(group)
        guard let all = group.pointee.rows, !rows.isEmpty else {
            out.buffer.byte(UInt8(ascii: "]"))
            return true
        }
        let range = steps.ranges[group.pointee.selection]
        let firstColumn = group.pointee.firstColumn
        path.append(.index(0))
        let top = path.count - 1
        var pointer = all.base + rows.lowerBound * all.stride
        for row in rows {
            guard !out.buffer.isOverflown else { break }
            if row > rows.lowerBound { out.buffer.byte(UInt8(ascii: ",")) }
            path[top] = .index(row - rows.lowerBound)
            let mark = out.buffer.count
            if !writeRow(range, pointer, firstColumn: firstColumn, row: row),
                !replaceByNull(from: mark, step, level: level + 1)
            {
                path.removeLast()
                return replaceByNull(from: start, step, level: level)
            }
            pointer += all.stride
        }
        path.removeLast()
        out.buffer.byte(UInt8(ascii: "]"))
        return true
    }

    private mutating func writeRow(
        _ range: Range<Int>,
        _ row: UnsafeRawPointer,
        firstColumn: Int,
        row number: Int
    ) -> Bool {
        out.buffer.byte(UInt8(ascii: "{"))
        let memory = steps.memory
        var comma = 1
        for index in range {
            out.buffer.padded(memory[index].key + comma, memory[index].keyLength - comma)
            comma = 0
            switch memory[index].kind {
            case .leaf:
                out.begin(memory[index].form)
                memory[index].write(row, &out)
                if out.outcome == .written { continue }
                guard finishLeaf(index) else { return false }
            case .column:
                let first = state.pointee.firstCell(ofColumn: firstColumn + index - range.lowerBound)
                guard writeColumn(first.map { $0 + number }, index) else { return false }
            case .constant: break
            case .introspection:
                guard writeIntrospection(index) else { return false }
            }
        }
        out.buffer.byte(UInt8(ascii: "}"))
        return true
    }

    private mutating func writeColumn(_ cell: Int?, _ step: Int) -> Bool {
        path.append(.field(step))
        defer { path.removeLast() }
        guard let cell else {
            return fail(GraphQLError("\(steps.memory[step].field.field.coordinate) was not resolved."), step, level: 0)
        }
        return writeCell(cell, step, level: 0)
    }

    private mutating func finishLeaf(_ step: Int) -> Bool {
        path.append(.field(step))
        defer { path.removeLast() }
        switch out.outcome {
        case .written: return true
        case .nothing, .null: return writeNull(step, level: 0)
        case .pending: return writeLeaf(out.pending, step, level: 0)
        case .failed: return fail(out.failure ?? GraphQLError("The value failed."), step, level: 0)
        }
    }

    /// CompleteValue: the level counts the lists the value stands in.
    private mutating func writeCell(_ cell: Int, _ step: Int, level: Int) -> Bool {
        let isInnermost = level == steps.memory[step].listDepth
        switch state.pointee.cells.at(cell).pointee {
        case .null: return writeNull(step, level: level)
        case .failure(let index): return fail(state.pointee.failures[index], step, level: level)
        case .leaf(let index): return writeLeaf(state.pointee.values[index], step, level: level)
        case .list(let first, let count):
            guard !isInnermost else { return fail(unexpectedList(step), step, level: level) }
            return writeList(count, step, level: level) { writer, index in
                writer.writeCell(first + index, step, level: level + 1)
            }
        case .objects(let group, let first, let count):
            guard !isInnermost else { return fail(unexpectedList(step), step, level: level) }
            guard level + 1 == steps.memory[step].listDepth else {
                return writeList(count, step, level: level) { writer, _ in
                    writer.fail(writer.notIterable(step), step, level: level + 1)
                }
            }
            return writeObjects(group: group, rows: first..<first + count, of: step, level: level)
        case .object(let group, let row):
            guard isInnermost else { return fail(notIterable(step), step, level: level) }
            let start = out.buffer.count
            if writeObject(group: group, row: row) { return true }
            return replaceByNull(from: start, step, level: level)
        }
    }
}

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
