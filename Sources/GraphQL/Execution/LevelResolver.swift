/// The first half of execution: resolves level by level, each field once for all
/// its parents (GraphQL §6.3).
///
/// It never waits: `next` gives the field that must be waited for, `store` takes what came of it. A
/// class, because a task that waits keeps what it holds itself in memory that is dearer.
final class LevelResolver {
    let steps: PlanSteps
    let request: PreparedRequest
    let context: any Shared
    let operationKind: OperationKind
    private let hasTimeLeft: (@Sendable () -> Bool)?
    private(set) var state: ExecutionState
    /// Why the execution ended before its time.
    private(set) var stop: Stop?
    /// The group whose fields are being resolved, and those of them that are left.
    private var group = 0
    private var stepsLeft = 0..<0
    /// The groups of this level that are left.
    private var groupsLeft = 0..<0
    /// The first group of the next level.
    private var nextLevel = 0
    /// The root fields of a mutation that have not begun.
    private var rootsLeft = 0..<0

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
        state = ExecutionState(steps)
    }

    /// Makes ready to resolve everything below the root.
    func begin(root: any RowOwner) {
        addRoot(root)
        guard operationKind == .mutation else { return }
        rootsLeft = steps.ranges[request.tree.root]
        nextLevel = 1
    }

    /// Makes ready to resolve everything below the one root field of an event, whose
    /// value is the event itself.
    func begin(event: ResolvedColumn, root: any RowOwner) {
        addRoot(root)
        nextLevel = 1
        state.beginLevel()
        guard let step = steps.ranges[request.tree.root].first else { return }
        state.begin(0, step)
        do throws(GraphQLError) {
            state.store(event, of: try FieldCall(steps.memory[step], in: self))
        } catch {
            state.fail(error, parents: 1)
        }
    }

    private func addRoot(_ root: any RowOwner) {
        let target = state.open(request.tree.root)
        state.fill(target.group, with: root)
    }

    /// Goes on until a field must be waited for, and gives that; `nil` when all is resolved,
    /// or nothing more is to be.
    ///
    /// Stops between levels when the task is cancelled or its time is over.
    func next() -> WaitingField? {
        while stop == nil {
            while let step = stepsLeft.popFirst() {
                if steps.memory[step].kind == .column, let waiting = resolve(step) { return waiting }
            }
            if let next = groupsLeft.popFirst() {
                group = next
                let begun = state.groups.at(next)
                if begun.pointee.count > 0 { stepsLeft = steps.ranges[begun.pointee.selection] }
            } else if !beginLevel() {
                return nil
            }
        }
        return nil
    }

    private func beginLevel() -> Bool {
        let level = nextLevel..<state.groups.count
        if !level.isEmpty {
            groupsLeft = level
        } else if let root = rootsLeft.popFirst() {
            // GraphQL §6.3.1: the next root field of a mutation begins when all
            // below the one before is done.
            (group, stepsLeft) = (0, root..<root + 1)
        } else {
            return false
        }
        if Task.isCancelled { stop = .cancelled }
        if let hasTimeLeft, stop == nil, !hasTimeLeft() { stop = .outOfTime }
        state.beginLevel()
        nextLevel = state.groups.count
        return true
    }

    private func resolve(_ step: Int) -> WaitingField? {
        guard let parents = state.groups.at(group).pointee.owner, let resolver = steps.memory[step].resolver else {
            return nil
        }
        state.begin(group, step)
        do throws(GraphQLError) {
            let call = try FieldCall(steps.memory[step], in: self)
            switch resolver {
            case .leaf: return nil
            case .value(let resolve): resolve(parents, call, &state)
            case .batch(let resolve):
                return WaitingField(group: group, step: step, call: call, parents: parents, resolve: resolve)
            }
        } catch {
            state.fail(error, parents: state.groups.at(group).pointee.count)
        }
        return nil
    }

    /// Takes what a field gave that was waited for.
    func store(_ column: ResolvedColumn, of field: WaitingField) {
        state.begin(field.group, field.step)
        state.store(column, of: field.call)
    }

    /// Takes the error of a field that was waited for.
    func fail(_ error: GraphQLError, _ field: WaitingField) {
        state.begin(field.group, field.step)
        state.fail(error, parents: state.groups.at(field.group).pointee.count)
    }
}

/// A field that waits for something.
struct WaitingField: Sendable {
    let group: Int
    let step: Int
    let call: FieldCall
    let parents: any RowOwner
    let resolve: ErasedBatch
}

// GraphQL §6.2.1: the root fields of a query may run at the same time.
extension LevelResolver {
    var hasSeveralWaitingRoots: Bool {
        guard operationKind == .query else { return false }
        var count = 0
        for step in steps.ranges[request.tree.root] {
            if case .batch? = steps.memory[step].resolver { count += 1 }
        }
        return count > 1
    }

    /// Resolves all fields of a query's root, those that wait for something at the same time.
    func resolveTogether() async {
        nextLevel = 0
        var waiting: [WaitingField] = []
        guard beginLevel(), stop == nil, let root = groupsLeft.popFirst() else { return }
        (group, groupsLeft) = (root, 0..<0)
        for step in steps.ranges[request.tree.root] where steps.memory[step].kind == .column {
            if let field = resolve(step) { waiting.append(field) }
        }
        guard let first = waiting.first else { return }
        let columns = await withTaskGroup(of: (Int, Result<ResolvedColumn, GraphQLError>).self) { group in
            for (index, field) in waiting.enumerated().dropFirst() {
                group.addTask { (index, await field.column()) }
            }
            var columns = [(0, await first.column())]
            for await column in group { columns.append(column) }
            return columns.sorted { $0.0 < $1.0 }
        }
        for (index, column) in columns {
            switch column {
            case .success(let column): store(column, of: waiting[index])
            case .failure(let error): fail(error, waiting[index])
            }
        }
    }
}

extension WaitingField {
    fileprivate func column() async -> Result<ResolvedColumn, GraphQLError> {
        do throws(GraphQLError) {
            return .success(try await resolve(parents, call))
        } catch {
            return .failure(error)
        }
    }
}
