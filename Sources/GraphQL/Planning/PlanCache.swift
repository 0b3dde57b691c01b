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
        if let held = state.withLock({ $0.use(key) }) { return held }
        let plan = try makePlan(document.text, operationName)
        let bytes = document.byteCount + plan.estimatedBytes
        // What had to go is taken apart after the lock is given back.
        let gone = state.withLock { $0.insert(plan, for: key, bytes: bytes) }
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
