import Synchronization

/// Plans of one schema by document text and operation name; those used least recently go
/// when there are too many.
///
/// An entry is never stale: the plan depends on the text, the name and the schema alone.
/// Variables are no part of it.
public final class PlanCache: Sendable {
    private let schema: Schema
    private let parseLimits: ParseLimits
    private let validationLimits: ValidationLimits
    private let suggests: Bool
    private let state: Mutex<LeastRecentlyUsed<Key, ExecutionPlan>>
    private let tally = Tally()

    private struct Key: Hashable {
        let document: DocumentText
        let operationName: String?

        /// The name is left to comparison: a document has few operations, and
        /// only those it has are held.
        func hash(into hasher: inout Hasher) { hasher.combine(document) }
    }

    /// A cache that holds at most so many plans and, roughly, so many bytes.
    ///
    /// With `suggests`, errors about unknown names end in similar names of the schema.
    public init(
        schema: Schema,
        parseLimits: ParseLimits = .standard,
        validationLimits: ValidationLimits = .standard,
        suggests: Bool = true,
        maximumEntries: Int = 1000,
        maximumBytes: Int = 32_000_000
    ) {
        self.schema = schema
        self.parseLimits = parseLimits
        self.validationLimits = validationLimits
        self.suggests = suggests
        state = Mutex(LeastRecentlyUsed(maximumEntries: maximumEntries, maximumBytes: maximumBytes))
    }

    /// How many plans are held.
    public var count: Int { state.withLock { $0.count } }

    /// What the cache has done so far, read without its lock.
    public var statistics: PlanCacheStatistics { tally.statistics }

    /// The plan of an operation: the one held, or a new one after parsing, validating and planning.
    public func plan(text: String, operationName: String? = nil) throws(RequestErrors) -> ExecutionPlan {
        try plan(of: DocumentText(text), operationName: operationName)
    }

    /// The same for a document's text.
    public func plan(
        of document: DocumentText,
        operationName: String? = nil
    ) throws(RequestErrors) -> ExecutionPlan {
        let key = Key(document: document, operationName: operationName)
        let held = state.withLock { state in
            let held = state.use(key)
            tally.looked(found: held != nil)
            return held
        }
        if let held { return held }
        let plan: ExecutionPlan
        do throws(RequestErrors) {
            plan = try makePlan(document.text, operationName)
        } catch {
            tally.rejected.wrappingAdd(1, ordering: .relaxed)
            throw error
        }
        let bytes = document.byteCount + plan.estimatedBytes
        // What had to go is taken apart after the lock is given back.
        let gone = state.withLock { state in
            let gone = state.insert(plan, for: key, bytes: bytes)
            tally.holds(state.count, bytes: state.bytes, evicted: gone.count { $0.key != key })
            return gone
        }
        _ = consume gone
        return plan
    }

    /// Parses and validates a document as a request's would be, and gives its operations' names.
    public func check(_ text: String) throws(RequestErrors) -> [String?] {
        try validated(text).operations.map(\.name)
    }

    private func makePlan(_ text: String, _ operationName: String?) throws(RequestErrors) -> ExecutionPlan {
        let document = try validated(text)
        do throws(GraphQLError) {
            return try ExecutionPlan.make(
                document: document,
                operationName: operationName,
                schema: schema,
                limits: validationLimits
            )
        } catch {
            throw RequestErrors(kind: .operation, errors: [error])
        }
    }

    private func validated(_ text: String) throws(RequestErrors) -> Document {
        let document: Document
        do throws(SyntaxError) {
            document = try parse(text, limits: parseLimits)
        } catch {
            throw RequestErrors(kind: .syntax, errors: [GraphQLError(error)])
        }
        let errors = validate(document, against: schema, limits: validationLimits, suggests: suggests)
        guard errors.isEmpty else { throw RequestErrors(kind: .validation, errors: errors) }
        return document
    }
}

/// What a cache of plans has done, and what it holds.
public struct PlanCacheStatistics: Sendable, Hashable {
    /// Requests whose plan was held.
    public var hits = 0
    /// Requests whose plan was not.
    public var misses = 0
    /// Plans that went to make room.
    public var evicted = 0
    /// Requests that have no plan: they do not parse, validate or name their operation.
    public var rejected = 0
    /// Plans that are held.
    public var plans = 0
    /// What these take in memory, roughly.
    public var bytes = 0

    /// A cache that has done nothing.
    public init() {}
}

/// The figures of a cache.
///
/// Those that are changed under its lock alone are stored, not added to.
private final class Tally: Sendable {
    private let hits = Atomic(0)
    private let misses = Atomic(0)
    private let evicted = Atomic(0)
    private let plans = Atomic(0)
    private let bytes = Atomic(0)
    let rejected = Atomic(0)

    /// A plan was looked for, under the lock.
    func looked(found: Bool) {
        if found { Self.add(1, to: hits) } else { Self.add(1, to: misses) }
    }

    /// A plan was added, under the lock.
    func holds(_ count: Int, bytes size: Int, evicted gone: Int) {
        plans.store(count, ordering: .relaxed)
        bytes.store(size, ordering: .relaxed)
        if gone > 0 { Self.add(gone, to: evicted) }
    }

    private static func add(_ count: Int, to number: borrowing Atomic<Int>) {
        number.store(number.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }

    var statistics: PlanCacheStatistics {
        var statistics = PlanCacheStatistics()
        statistics.hits = hits.load(ordering: .relaxed)
        statistics.misses = misses.load(ordering: .relaxed)
        statistics.evicted = evicted.load(ordering: .relaxed)
        statistics.rejected = rejected.load(ordering: .relaxed)
        statistics.plans = plans.load(ordering: .relaxed)
        statistics.bytes = bytes.load(ordering: .relaxed)
        return statistics
    }
}
