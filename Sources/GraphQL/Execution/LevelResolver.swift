/// The first half of execution: resolves level by level, each field once for all its parents (GraphQL §6.3).
struct LevelResolver {
    let steps: PlanSteps
    let request: PreparedRequest
    let context: any Shared
    let operationKind: OperationKind
    let hasTimeLeft: (@Sendable () -> Bool)?
    private(set) var gathering: Gathering

    /// Why an execution ends before its time.
    enum Stop {
        case cancelled
        case outOfTime
    }

    init(
        _ plan: ExecutionPlan,
        _ request: PreparedRequest,
        _ bindings: Bindings,
        context: any Shared,
        hasTimeLeft: (@Sendable () -> Bool)?
    ) {
        steps = plan.tree.stepCache.steps(for: request, bindings)
        self.request = request
        self.context = context
        self.hasTimeLeft = hasTimeLeft
        operationKind = plan.operationKind
        gathering = Gathering(steps)
    }

    /// Resolves everything below the root.
    ///
    /// Stops between levels when the task is cancelled or its time is over, and says so.
    mutating func resolve(root: Rows) async -> Stop? {
        addRoot(root)
        switch operationKind {
        case .query where hasSeveralWaitingRoots:
            if let stop { return stop }
            await resolveTogether()
            return await resolveLevels(from: 1)
        case .mutation:
            // GraphQL §6.3.1: the next root field begins when all below the one before is done.
            for step in steps.ranges[request.tree.root] where steps.memory[step].kind == .column {
                if let stop { return stop }
                gathering.beginLevel()
                let first = gathering.groups.count
                await resolveColumn(0, step)
                if let stop = await resolveLevels(from: first) { return stop }
            }
            return nil
        case .query, .subscription: return await resolveLevels(from: 0)
        }
    }

    /// Resolves everything below the one root field of an event, whose value is the event itself.
    mutating func resolve(event: ResolvedColumn, root: Rows) async -> Stop? {
        addRoot(root)
        gathering.beginLevel()
        if let step = steps.ranges[request.tree.root].first {
            gathering.begin(column: 0)
            do throws(GraphQLError) {
                event.place(event.values, try FieldCall(steps.memory[step], in: self), &gathering)
            } catch {
                gathering.fail(error, parents: 1)
            }
        }
        return await resolveLevels(from: 1)
    }

    private mutating func addRoot(_ root: Rows) {
        let place = gathering.open(request.tree.root)
        gathering.fill(place.group, with: root)
    }

    private var stop: Stop? {
        if Task.isCancelled { return .cancelled }
        if let hasTimeLeft, !hasTimeLeft() { return .outOfTime }
        return nil
    }

    private mutating func resolveLevels(from start: Int) async -> Stop? {
        var level = start..<gathering.groups.count
        while !level.isEmpty {
            if let stop { return stop }
            gathering.beginLevel()
            let first = level.upperBound
            for group in level where gathering.groups[group].count > 0 {
                for step in steps.ranges[gathering.groups[group].selection] where steps.memory[step].kind == .column {
                    await resolveColumn(group, step)
                }
            }
            level = first..<gathering.groups.count
        }
        return nil
    }

    private mutating func resolveColumn(_ group: Int, _ step: Int) async {
        guard let parents = gathering.groups[group].owner, let resolver = steps.memory[step].resolver else { return }
        begin(group, step)
        do throws(GraphQLError) {
            let call = try FieldCall(steps.memory[step], in: self)
            switch resolver {
            case .leaf: return
            case .value(let resolve): resolve(parents, call, &gathering)
            case .batch(let resolve):
                let column = try await resolve(parents, call)
                column.place(column.values, call, &gathering)
            }
        } catch {
            gathering.fail(error, parents: gathering.groups[group].count)
        }
    }

    /// The next column is that of a field of a group.
    private mutating func begin(_ group: Int, _ step: Int) {
        let group = gathering.groups[group]
        gathering.begin(column: group.firstColumn + step - steps.ranges[group.selection].lowerBound)
    }
}

// GraphQL §6.2.1: the root fields of a query may run at the same time.
extension LevelResolver {
    /// One root field that waits for something.
    private struct Waiting: Sendable {
        let step: Int
        let call: FieldCall
        let resolve: ErasedBatch

        func column(_ root: any Shared) async -> Result<ResolvedColumn, GraphQLError> {
            do throws(GraphQLError) {
                return .success(try await resolve(root, call))
            } catch {
                return .failure(error)
            }
        }
    }

    private var hasSeveralWaitingRoots: Bool {
        var count = 0
        for step in steps.ranges[request.tree.root] {
            if case .batch? = steps.memory[step].resolver { count += 1 }
        }
        return count > 1
    }

    private mutating func resolveTogether() async {
        gathering.beginLevel()
        var waiting: [Waiting] = []
        for step in steps.ranges[request.tree.root] where steps.memory[step].kind == .column {
            guard case .batch(let resolve)? = steps.memory[step].resolver else {
                await resolveColumn(0, step)
                continue
            }
            do throws(GraphQLError) {
                waiting.append(Waiting(step: step, call: try FieldCall(steps.memory[step], in: self), resolve: resolve))
            } catch {
                begin(0, step)
                gathering.fail(error, parents: 1)
            }
        }
        guard let root = gathering.groups[0].owner, let first = waiting.first else { return }
        let columns = await withTaskGroup(of: (Int, Result<ResolvedColumn, GraphQLError>).self) { group in
            for (index, field) in waiting.enumerated().dropFirst() {
                group.addTask { (index, await field.column(root)) }
            }
            var columns = [(0, await first.column(root))]
            for await column in group { columns.append(column) }
            return columns.sorted { $0.0 < $1.0 }
        }
        for (index, column) in columns { place(column, of: waiting[index]) }
    }

    private mutating func place(_ column: Result<ResolvedColumn, GraphQLError>, of field: Waiting) {
        begin(0, field.step)
        switch column {
        case .success(let column): column.place(column.values, field.call, &gathering)
        case .failure(let error): gathering.fail(error, parents: 1)
        }
    }
}
