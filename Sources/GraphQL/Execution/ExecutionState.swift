public import JSON

/// A resolved value where it belongs: objects have become rows of groups, values and errors have
/// moved to lists beside.
///
/// Without references, so that reading one costs nothing.
enum Cell {
    case null
    case leaf(Int)
    case failure(Int)
    case object(group: Int, row: Int)
    /// A list of objects that stand one after the other in their group.
    case objects(group: Int, first: Int, count: Int)
    /// A list whose elements stand one after the other among the cells.
    case list(first: Int, count: Int)
}

/// Objects of one level that share a selection.
struct ObjectGroup {
    /// The number of the selection.
    let selection: Int
    /// Where the columns of its fields are named.
    let firstColumn: Int
    /// The column of its objects; `nil` while there is none.
    var owner: (any RowOwner)?
    /// Where its objects are.
    var rows: Rows?

    var count: Int { rows?.count ?? 0 }
}

/// What the resolvers of a request have given.
///
/// Everything lies in a few arenas that grow together, whatever number of rows and lists there is.
@usableFromInline
struct ExecutionState: ~Copyable {
    private(set) var groups: Arena<ObjectGroup>
    private(set) var cells = Arena<Cell>(capacity: 8)
    private(set) var values: [JSONValue] = []
    private(set) var failures: [GraphQLError] = []
    /// Two tables, with numbers below zero for what is not there.
    ///
    /// The first gives the group of the level being read, by the selection's number. The second
    /// gives the first cell of each column of each group; a field that is no column, or was not
    /// resolved, has none.
    private var offsets: Arena<Int>
    private let steps: PlanSteps
    private var firstOfLevel = 0
    /// The column being stored.
    private var column = 0

    init(_ steps: PlanSteps) {
        self.steps = steps
        groups = Arena(capacity: steps.ranges.count)
        offsets = Arena(capacity: steps.ranges.count + steps.count)
        _ = offsets.append(repeating: -1, count: steps.ranges.count)
    }

    /// Closes the groups there are: what comes next belongs to a new level.
    mutating func beginLevel() { firstOfLevel = groups.count }

    /// Says which column comes next: that of a field of a group.
    mutating func begin(_ group: Int, _ step: Int) {
        let group = groups.at(group)
        column = group.pointee.firstColumn + step - steps.ranges[group.pointee.selection].lowerBound
    }

    /// The first cell of a column; `nil` where nothing was resolved.
    func firstCell(ofColumn column: Int) -> Int? {
        let cell = offsets.at(column).pointee
        return cell < 0 ? nil : cell
    }

    /// Puts the same error into every cell of the column.
    mutating func fail(_ error: GraphQLError, parents: Int) {
        failures.append(error)
        offsets.at(column).pointee = cells.append(repeating: .failure(failures.count - 1), count: parents)
    }

    /// Puts what a field resolved for all parents into its cells.
    mutating func store(_ resolved: ResolvedColumn, of call: FieldCall) {
        switch resolved {
        case .values(let values, let store): store(values, call, &self)
        case .object(let owner):
            let cell = reserveColumn(1)
            guard call.selection >= 0 else { return setFailure(cell, call.objectForLeaf) }
            let target = open(call.selection)
            setObject(cell, group: target.group, row: target.row)
            fill(target.group, with: owner)
        }
    }
}

// What code that knows the objects' type calls.
extension ExecutionState {
    /// Makes room for the cells of the column, all null.
    @usableFromInline
    mutating func reserveColumn(_ count: Int) -> Int {
        let first = reserve(count)
        offsets.at(column).pointee = first
        return first
    }

    /// Makes room for cells, all null.
    @usableFromInline
    mutating func reserve(_ count: Int) -> Int { cells.append(repeating: .null, count: count) }

    @usableFromInline
    mutating func setLeaf(_ cell: Int, _ value: JSONValue) {
        guard !value.isNull else { return }
        cells.at(cell).pointee = .leaf(values.count)
        values.append(value)
    }

    @usableFromInline
    mutating func setFailure(_ cell: Int, _ error: GraphQLError) {
        cells.at(cell).pointee = .failure(failures.count)
        failures.append(error)
    }

    @usableFromInline
    mutating func setObject(_ cell: Int, group: Int, row: Int) {
        cells.at(cell).pointee = .object(group: group, row: row)
    }

    @usableFromInline
    mutating func setObjects(_ cell: Int, group: Int, first: Int, count: Int) {
        cells.at(cell).pointee = .objects(group: group, first: first, count: count)
    }

    @usableFromInline
    mutating func setList(_ cell: Int, first: Int, count: Int) {
        cells.at(cell).pointee = .list(first: first, count: count)
    }

    /// Where the next object of a selection goes: into the group of this level, or into a new one.
    @usableFromInline
    mutating func open(_ selection: Int) -> (group: Int, row: Int) {
        let open = offsets.at(selection).pointee
        if open >= firstOfLevel, open < groups.count { return (open, groups.at(open).pointee.count) }
        offsets.at(selection).pointee = groups.count
        let columns = offsets.append(repeating: -1, count: steps.ranges[selection].count)
        groups.append(ObjectGroup(selection: selection, firstColumn: columns))
        return (groups.count - 1, 0)
    }

    /// Adds objects to a group.
    @usableFromInline
    mutating func fill(_ group: Int, with owner: any RowOwner) {
        let group = groups.at(group)
        let all = group.pointee.owner.map { $0.joined(with: owner) } ?? owner
        group.pointee.owner = all
        group.pointee.rows = all.rows
    }
}
