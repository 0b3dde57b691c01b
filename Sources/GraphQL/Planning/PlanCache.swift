import Synchronization

/// Plans of one schema by document text and operation name; the least used go when there are too many.
///
/// An entry is never stale: the plan depends on the text, the name and the schema alone.
public final class PlanCache: Sendable {
    private let schema: Schema
    private let parseLimits: ParseLimits
    private let validationLimits: ValidationLimits
    private let maximumEntries: Int
    private let maximumBytes: Int
    private let state = Mutex(State())

    private struct Key: Hashable {
        var text: String
        var operationName: String?
    }

    private struct Entry {
        var plan: ExecutionPlan
        var bytes: Int
        var lastUse: Int
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var bytes = 0
        var uses = 0
    }

    /// A cache that holds at most so many plans and, roughly, so many bytes.
    public init(
        schema: Schema,
        parseLimits: ParseLimits = .standard,
        validationLimits: ValidationLimits = .standard,
        maximumEntries: Int = 1000,
        maximumBytes: Int = 32_000_000
    ) {
        self.schema = schema
        self.parseLimits = parseLimits
        self.validationLimits = validationLimits
        self.maximumEntries = max(1, maximumEntries)
        self.maximumBytes = maximumBytes
    }

    /// How many plans are held.
    public var count: Int { state.withLock { $0.entries.count } }

    /// The plan of an operation: the one held, or a new one after parsing, validating and planning.
    public func plan(text: String, operationName: String? = nil) throws(RequestErrors) -> ExecutionPlan {
        let key = Key(text: text, operationName: operationName)
        let held = state.withLock { state -> ExecutionPlan? in
            state.uses += 1
            state.entries[key]?.lastUse = state.uses
            return state.entries[key]?.plan
        }
        if let held { return held }
        let plan = try makePlan(text: text, operationName: operationName)
        insert(plan, for: key)
        return plan
    }

    private func makePlan(text: String, operationName: String?) throws(RequestErrors) -> ExecutionPlan {
        let document: Document
        do throws(SyntaxError) {
            document = try parse(text, limits: parseLimits)
        } catch {
            throw RequestErrors(kind: .syntax, errors: [GraphQLError(error)])
        }
        let errors = validate(document, against: schema, limits: validationLimits)
        guard errors.isEmpty else { throw RequestErrors(kind: .validation, errors: errors) }
        do throws(GraphQLError) {
            return try ExecutionPlan.make(document: document, operationName: operationName, schema: schema)
        } catch {
            throw RequestErrors(kind: .operation, errors: [error])
        }
    }

    private func insert(_ plan: ExecutionPlan, for key: Key) {
        let bytes = key.text.utf8.count + plan.estimatedBytes
        guard bytes <= maximumBytes else { return }
        state.withLock { state in
            if state.entries.count >= maximumEntries || state.bytes + bytes > maximumBytes {
                makeRoom(for: bytes, in: &state)
            }
            let replaced = state.entries.updateValue(
                Entry(plan: plan, bytes: bytes, lastUse: state.uses),
                forKey: key
            )
            state.bytes += bytes - (replaced?.bytes ?? 0)
        }
    }

    /// Removes the least used, an eighth at least, so that a full cache does not sort itself for every miss.
    private func makeRoom(for bytes: Int, in state: inout State) {
        let oldest = state.entries.sorted { $0.value.lastUse < $1.value.lastUse }
        let target = min(maximumEntries - 1, state.entries.count * 7 / 8)
        for (key, entry) in oldest {
            if state.entries.count <= target, state.bytes + bytes <= maximumBytes { break }
            state.entries[key] = nil
            state.bytes -= entry.bytes
        }
    }
}
