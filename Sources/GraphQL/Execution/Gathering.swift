public import JSON

/// A resolved value in its place: objects have become rows of groups, values and errors have moved to lists beside.
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
    /// The column of its objects; `nil` while there is none.
    var owner: (any Shared)?
    /// Where the objects are: the first one, and the distance to the next.
    var memory: (base: UnsafeRawPointer, stride: Int)?
    var count = 0
    /// Where the columns of its fields are named.
    let firstColumn: Int
}

/// What the resolvers of a request have given.
///
/// Everything lies in a few arrays that grow together, whatever number of rows and lists there is.
@usableFromInline
struct Gathering {
    private(set) var groups: [ObjectGroup] = []
    /// The first cell of each column of each group; below zero where the field is no column or was not resolved.
    private(set) var columns: [Int] = []
    private(set) var cells: [Cell] = []
    private(set) var values: [JSONValue] = []
    private(set) var failures: [GraphQLError] = []
    /// The group of the level being gathered, by the selection's number; below zero where there is none.
    private var openGroups: [Int]
    private let steps: PlanSteps
    private var firstOfLevel = 0
    /// The column being placed.
    private var column = 0

    init(_ steps: PlanSteps) {
        self.steps = steps
        openGroups = Array(repeating: -1, count: steps.ranges.count)
        groups.reserveCapacity(steps.ranges.count)
        columns.reserveCapacity(steps.count)
        cells.reserveCapacity(8)
    }

    /// Closes the groups there are: what comes next belongs to a new level.
    mutating func beginLevel() { firstOfLevel = groups.count }

    /// Says which column comes next.
    mutating func begin(column: Int) { self.column = column }

    /// Puts the same error into every cell of the column.
    mutating func fail(_ error: GraphQLError, parents: Int) {
        failures.append(error)
        columns[column] = cells.count
        for _ in 0..<parents { cells.append(.failure(failures.count - 1)) }
    }
}

// What code that knows the objects' type calls.
extension Gathering {
    /// Makes room for the cells of the column, all null.
    @usableFromInline
    mutating func reserveColumn(_ count: Int) -> Int {
        let first = reserve(count)
        columns[column] = first
        return first
    }

    /// Makes room for cells, all null.
    @usableFromInline
    mutating func reserve(_ count: Int) -> Int {
        let first = cells.count
        cells.append(contentsOf: repeatElement(.null, count: count))
        return first
    }

    @usableFromInline
    mutating func setLeaf(_ cell: Int, _ value: JSONValue) {
        guard !value.isNull else { return }
        cells[cell] = .leaf(values.count)
        values.append(value)
    }

    @usableFromInline
    mutating func setFailure(_ cell: Int, _ error: GraphQLError) {
        cells[cell] = .failure(failures.count)
        failures.append(error)
    }

    @usableFromInline
    mutating func setObject(_ cell: Int, group: Int, row: Int) {
        cells[cell] = .object(group: group, row: row)
    }

    @usableFromInline
    mutating func setObjects(_ cell: Int, group: Int, first: Int, count: Int) {
        cells[cell] = .objects(group: group, first: first, count: count)
    }

    @usableFromInline
    mutating func setList(_ cell: Int, first: Int, count: Int) {
        cells[cell] = .list(first: first, count: count)
    }

    /// Where the next object of a selection goes: into the group of this level, or into a new one.
    @usableFromInline
    mutating func open(_ selection: Int) -> (group: Int, row: Int) {
        let open = openGroups[selection]
        if open >= firstOfLevel, open < groups.count { return (open, groups[open].count) }
        openGroups[selection] = groups.count
        groups.append(ObjectGroup(selection: selection, firstColumn: columns.count))
        for _ in 0..<steps.ranges[selection].count { columns.append(-1) }
        return (groups.count - 1, 0)
    }

    /// The column a group has so far.
    @usableFromInline
    func owner(of group: Int) -> (any Shared)? { groups[group].owner }

    @usableFromInline
    mutating func fill(_ group: Int, with rows: Rows) {
        groups[group].owner = rows.owner
        groups[group].memory = (rows.base, rows.stride)
        groups[group].count = rows.count
    }
}
