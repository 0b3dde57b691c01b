import JSON

/// The second half of execution: writes what was resolved, depth first, into one buffer (GraphQL §6.4.3, §6.4.4).
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

    /// One step of the path to what is being written, turned into words only when there is an error.
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
