import JSON
import Synchronization

/// What to do for one field of each row of a selection, looked up once for all requests.
///
/// Noncopyable, so that walking over the steps of every row retains nothing.
struct Step: ~Copyable {
    /// The bytes `,"key":`, and behind them the value of a constant.
    ///
    /// The memory can be read in steps of sixteen bytes.
    let key: UnsafeRawPointer
    let keyLength: Int
    let kind: Kind
    let form: LeafWriter.DirectForm
    /// Whether each level of the field's type is non-null, the outermost in the lowest bit.
    let nonNull: UInt64
    /// How many lists are around the field's values.
    let listDepth: Int
    /// Writes the leaf; does nothing for other kinds.
    let write: ErasedLeaf
    let field: PlannedField
    let parentType: Schema.NamedType
    let resolver: ErasedResolver?
    /// What names the types of the field's values, if its type is abstract.
    let naming: (any Shared)?

    enum Kind {
        /// Written straight from the row.
        case leaf
        /// Resolved before anything is written.
        case column
        /// Written with the key.
        case constant
        case introspection
    }

    init(_ field: PlannedField, of type: Schema.NamedType, _ bindings: Bindings, key: UnsafeRawBufferPointer) {
        self.field = field
        parentType = type
        let resolver = field.field.index >= 0 ? bindings.resolvers[field.field.index] : nil
        self.resolver = resolver
        self.key = key.baseAddress ?? UnsafeRawPointer(Unmanaged.passUnretained(field).toOpaque())
        keyLength = key.count
        listDepth = field.shape.nonNull.count - 1
        nonNull = field.shape.nonNull.prefix(64).enumerated().reduce(0) { $0 | ($1.element ? 1 << $1.offset : 0) }
        if case .abstract(let type, _) = field.kind { naming = bindings.naming(of: type) } else { naming = nil }
        var (kind, form) = (Kind.column, LeafWriter.DirectForm.none)
        var write: ErasedLeaf = { _, _ in }
        switch (field.kind, resolver) {
        case (.typename, _): kind = .constant
        case (.introspectSchema, _), (.introspectType, _): kind = .introspection
        case (.leaf(let leaf), .leaf(let resolve)?):
            kind = .leaf
            write = resolve
            form = field.shape.isList ? .none : LeafWriter.DirectForm(leaf)
            if case .custom(let name) = leaf, bindings.erased.serializations[name] != nil { form = .none }
        default: break
        }
        (self.kind, self.form, self.write) = (kind, form, write)
    }

    /// Whether values inside so many lists are non-null.
    func isNonNull(_ level: Int) -> Bool {
        level < 64 ? nonNull >> UInt64(level) & 1 == 1 : field.shape.nonNull[level]
    }
}

/// The steps of all selections of a plan, for the fields that a request includes.
///
/// Unchecked, because the memory it owns is written by the initializer alone
/// and read until it is gone.
final class PlanSteps: @unchecked Sendable {
    let bindings: Bindings
    /// Where the steps of each selection stand.
    let ranges: [Range<Int>]
    let memory: UnsafeMutablePointer<Step>
    private let keys: UnsafeMutableRawPointer
    /// How many steps there are.
    let count: Int
    private let lastLength = Atomic<Int>(512)
    private static let maximumExpectedLength = 1 << 20

    init(_ fields: [[PlannedField]], of tree: PlanTree, _ bindings: Bindings) {
        self.bindings = bindings
        var ranges: [Range<Int>] = []
        var bytes: [[UInt8]] = []
        for (number, fields) in fields.enumerated() {
            ranges.append(bytes.count..<bytes.count + fields.count)
            for field in fields { bytes.append(Self.key(of: field, tree.selections[number].type)) }
        }
        self.ranges = ranges
        count = bytes.count
        memory = .allocate(capacity: max(1, count))
        // Each key in whole sixteens, because sixteen bytes are copied at a time.
        let lengths = bytes.map { ($0.count + 15) / 16 * 16 }
        keys = .allocate(byteCount: lengths.reduce(16, +), alignment: 16)
        var key = keys
        var index = 0
        for (number, fields) in fields.enumerated() {
            for field in fields {
                key.initializeMemory(as: UInt8.self, repeating: 0, count: lengths[index])
                key.copyMemory(from: bytes[index], byteCount: bytes[index].count)
                let view = UnsafeRawBufferPointer(start: key, count: bytes[index].count)
                (memory + index).initialize(to: Step(field, of: tree.selections[number].type, bindings, key: view))
                key += lengths[index]
                index += 1
            }
        }
    }

    deinit {
        memory.deinitialize(count: count)
        memory.deallocate()
        keys.deallocate()
    }

    /// How many bytes to make ready for the next response, from how many the last one took.
    var expectedLength: Int {
        let last = lastLength.load(ordering: .relaxed)
        return last + last / 8 + 256
    }

    /// Remembers how long a response was.
    func note(length: Int) {
        lastLength.store(min(length, Self.maximumExpectedLength), ordering: .relaxed)
    }

    private static func key(of field: PlannedField, _ type: Schema.NamedType) -> [UInt8] {
        guard case .typename = field.kind else { return field.furtherKeyBytes }
        return field.furtherKeyBytes + JSONValue.string(type.name).serialized()
    }
}

/// The steps of a plan, kept for each set of fields that requests include.
///
/// They are kept for one executable schema, the one that asked last.
final class StepCache: Sendable {
    private let state = Mutex(State())
    private static let maximumVariants = 16
    /// How many steps all variants together may have; of a plan with many fields
    /// fewer variants are kept, or none.
    private static let maximumSteps = 4096

    private struct State {
        var bindings: Bindings?
        var steps: [UInt64: PlanSteps] = [:]
        var unconditional: PlanSteps?
    }

    init() {}

    /// How many steps may be kept for a plan with so many fields, and so many variables that
    /// switch fields on or off.
    static func capacity(fields: Int, switches: Int) -> Int {
        let variants = min(1 << min(switches, 32), maximumVariants)
        return variants == 1 ? fields : min(fields * variants, maximumSteps)
    }

    /// The steps for the fields that a request includes.
    func steps(for request: PreparedRequest, _ bindings: Bindings) -> PlanSteps {
        let tree = request.tree
        guard tree.isConditional else {
            let held = state.withLock { $0.bindings === bindings ? $0.unconditional : nil }
            if let held { return held }
            let made = PlanSteps(request.fields, of: tree, bindings)
            state.withLock { state in
                state = State(bindings: bindings, unconditional: made)
            }
            return made
        }
        guard tree.switches.count <= 64 else { return PlanSteps(request.fields, of: tree, bindings) }
        var key: UInt64 = 0
        for (index, name) in tree.switches.enumerated() where request.variables[name]?.boolValue == true {
            key |= 1 << UInt64(index)
        }
        let held = state.withLock { $0.bindings === bindings ? $0.steps[key] : nil }
        if let held { return held }
        let made = PlanSteps(request.fields, of: tree, bindings)
        guard made.count <= Self.maximumSteps else { return made }
        state.withLock { state in
            let steps = state.steps.values.reduce(made.count) { $0 + $1.count }
            let isFull = steps > Self.maximumSteps || state.steps.count >= Self.maximumVariants
            if isFull || state.bindings !== bindings { state = State() }
            state.bindings = bindings
            state.steps[key] = made
        }
        return made
    }
}
