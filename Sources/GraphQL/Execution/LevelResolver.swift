/// The first half of execution: resolves level by level, each field once for all its parents (GraphQL §6.3).
struct LevelResolver<Object: Sendable, Context: Sendable>: Sendable {
    let executable: ExecutableSchema<Object, Context>
    let request: PreparedRequest
    let context: Context
    let operationKind: OperationKind
    private(set) var groups: [ObjectGroup<Object>] = []
    /// The group of the level being gathered, by the selection's number; below zero where there is none.
    private var openGroups: [Int]
    private var firstOfLevel = 0

    init(
        executable: ExecutableSchema<Object, Context>,
        request: PreparedRequest,
        context: Context,
        operationKind: OperationKind
    ) {
        self.executable = executable
        self.request = request
        self.context = context
        self.operationKind = operationKind
        openGroups = Array(repeating: -1, count: request.tree.selections.count)
    }

    /// Resolves everything below the root.
    ///
    /// Stops between levels when the task is cancelled, and says so.
    mutating func resolve(root: Object) async -> Bool {
        addRoot(root)
        let fields = request.fields[request.tree.root]
        guard operationKind == .mutation else { return await resolveLevels(from: 0) }
        // GraphQL §6.3.1: the next root field begins when all below the one before is done.
        for index in fields.indices {
            firstOfLevel = groups.count
            await resolveColumn(group: 0, fieldIndex: index)
            guard await resolveLevels(from: firstOfLevel) else { return false }
        }
        return true
    }

    /// Resolves everything below the one root field of an event, whose value is the event itself.
    mutating func resolve(event: Object, root: Object) async -> Bool {
        addRoot(root)
        firstOfLevel = 1
        if let field = request.fields[request.tree.root].first {
            groups[0].columns[0] = [cell(.object(event), of: field)]
        }
        return await resolveLevels(from: 1)
    }

    private mutating func addRoot(_ root: Object) {
        let count = request.fields[request.tree.root].count
        groups.append(
            ObjectGroup(selection: request.tree.root, parents: [root], columns: Array(repeating: nil, count: count))
        )
    }

    private mutating func resolveLevels(from start: Int) async -> Bool {
        var level = start..<groups.count
        while !level.isEmpty {
            if Task.isCancelled { return false }
            firstOfLevel = groups.count
            for group in level {
                let fields = request.fields[groups[group].selection]
                for index in fields.indices where !isLeaf(fields[index]) {
                    await resolveColumn(group: group, fieldIndex: index)
                }
            }
            level = firstOfLevel..<groups.count
        }
        return true
    }

    /// Whether a field is written straight from its parents.
    private func isLeaf(_ field: PlannedField) -> Bool {
        field.field.index >= 0 && executable.leaves[field.field.index] != nil
    }

    private mutating func resolveColumn(group: Int, fieldIndex: Int) async {
        let field = request.fields[groups[group].selection][fieldIndex]
        guard field.field.index >= 0, let resolver = executable.resolvers[field.field.index] else { return }
        switch resolver {
        case .leaf: return
        case .value(let resolve): groups[group].columns[fieldIndex] = resolveEach(group, field, resolve)
        case .batch(let resolve):
            let cells = await resolveAll(group, field, resolve)
            groups[group].columns[fieldIndex] = cells
        }
    }

    private mutating func resolveEach(
        _ group: Int,
        _ field: PlannedField,
        _ resolve: ResolverMap<Object, Context>.Single
    ) -> [Cell] {
        let parents = groups[group].parents
        do throws(GraphQLError) {
            let invocation = try invocation(of: field, group)
            var cells: [Cell] = []
            cells.reserveCapacity(parents.count)
            for parent in parents {
                do throws(GraphQLError) {
                    let value = try resolve(parent, invocation)
                    cells.append(cell(value, of: field))
                } catch {
                    cells.append(.failure(error))
                }
            }
            return cells
        } catch {
            return Array(repeating: .failure(error), count: parents.count)
        }
    }

    private mutating func resolveAll(
        _ group: Int,
        _ field: PlannedField,
        _ resolve: ResolverMap<Object, Context>.Batch
    ) async -> [Cell] {
        let parents = groups[group].parents
        do throws(GraphQLError) {
            let invocation = try invocation(of: field, group)
            let values = try await resolve(parents, invocation)
            guard values.count == parents.count else {
                throw GraphQLError(
                    "The resolver of \(field.field.coordinate) gave \(values.count) values for \(parents.count) parents."
                )
            }
            return cells(values, of: field)
        } catch {
            return Array(repeating: .failure(error), count: parents.count)
        }
    }

    private func invocation(
        of field: PlannedField,
        _ group: Int
    ) throws(GraphQLError) -> FieldInvocation<Context> {
        FieldInvocation(
            parentType: request.tree.selections[groups[group].selection].type.name,
            fieldName: field.field.name,
            responseKey: field.responseKey,
            arguments: try request.arguments(of: field),
            context: context,
            selection: request.selection(of: field),
            operationKind: operationKind
        )
    }

    /// Puts the objects of a value among the parents of the next level.
    private mutating func cell(_ value: ResolvedValue<Object>, of field: PlannedField) -> Cell {
        switch value {
        case .null: return .null
        case .leaf(let value): return .leaf(value)
        case .failure(let error): return .failure(error)
        case .list(let values): return .list(cells(values, of: field))
        case .object(let object): return place(object, of: field)
        }
    }

    /// The cells of a list, or of a column.
    ///
    /// Objects of one type go to their group together and in one loop: called once a row, generic code looks up the
    /// metadata of its types each time, which took a tenth of the time of a response.
    private mutating func cells(_ values: [ResolvedValue<Object>], of field: PlannedField) -> [Cell] {
        guard case .object(let selection) = field.kind else { return values.map { cell($0, of: field) } }
        var cells: [Cell] = []
        cells.reserveCapacity(values.count)
        var objects: [Object] = []
        objects.reserveCapacity(values.count)
        var (group, row) = nextPlace(in: selection)
        for value in values {
            switch value {
            case .object(let object):
                objects.append(object)
                cells.append(.object(group: group, row: row))
                row += 1
            case .null: cells.append(.null)
            case .leaf(let value): cells.append(.leaf(value))
            case .failure(let error): cells.append(.failure(error))
            case .list(let inner):
                add(objects, to: selection)
                objects.removeAll(keepingCapacity: true)
                cells.append(.list(self.cells(inner, of: field)))
                (group, row) = nextPlace(in: selection)
            }
        }
        add(objects, to: selection)
        return cells
    }

    private mutating func place(_ object: Object, of field: PlannedField) -> Cell {
        switch field.kind {
        case .object(let selection): return add(object, to: selection)
        case .abstract(let type, let selections):
            let name = (executable.map.abstractTypes[type.name] ?? executable.map.defaultTypeName)?(object) ?? ""
            guard let selection = selections[name] else { return .failure(impossible(name, for: type, field)) }
            return add(object, to: selection)
        case .leaf, .typename, .introspectSchema, .introspectType:
            return .failure(GraphQLError("The resolver of \(field.field.coordinate) gave an object for a leaf."))
        }
    }

    private mutating func add(_ object: Object, to selection: Int) -> Cell {
        let (group, row) = nextPlace(in: selection)
        add([object], to: selection)
        return .object(group: group, row: row)
    }

    /// Where the next object of a selection goes: into the group of this level, or into a new one.
    private func nextPlace(in selection: Int) -> (group: Int, row: Int) {
        let open = openGroups[selection]
        guard open >= firstOfLevel, open < groups.count, groups[open].selection == selection else {
            return (groups.count, 0)
        }
        return (open, groups[open].parents.count)
    }

    private mutating func add(_ objects: [Object], to selection: Int) {
        guard !objects.isEmpty else { return }
        let group = nextPlace(in: selection).group
        guard group == groups.count else { return groups[group].parents.append(contentsOf: objects) }
        openGroups[selection] = group
        let count = request.fields[selection].count
        groups.append(
            ObjectGroup(selection: selection, parents: objects, columns: Array(repeating: nil, count: count))
        )
    }

    private func impossible(_ name: String, for type: Schema.NamedType, _ field: PlannedField) -> GraphQLError {
        guard request.tree.schema.type(named: name) != nil else {
            return GraphQLError(
                "Abstract type \"\(type.name)\" was resolved to a type \"\(name)\" that does not exist inside the schema."
            )
        }
        return GraphQLError("Runtime Object type \"\(name)\" is not a possible type for \"\(type.name)\".")
    }
}
