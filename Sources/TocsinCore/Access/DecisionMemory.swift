import Synchronization

/// What the rules of models give to one caller, decided once: neither the rules
/// nor the caller ever change.
final class DecisionMemory: Sendable {
    private struct Entry {
        /// Held, so that no other model comes to stand where it stood.
        let model: ModelType
        let operation: AccessRule.Operation
        let decision: AccessDecision
    }

    private let entries = Mutex<[Entry]>([])
    /// Few callers do more than a few things; for those who do, it begins again.
    private static let maximumCount = 16

    /// The decision on an operation, made by `decide` when it is asked for first.
    func decision(
        _ operation: AccessRule.Operation,
        on model: ModelType,
        _ decide: () -> AccessDecision
    ) -> AccessDecision {
        let known = entries.withLock { entries in
            for index in entries.indices where entries[index].model === model && entries[index].operation == operation {
                return entries[index].decision as AccessDecision?
            }
            return nil
        }
        if let known { return known }
        let decision = decide()
        entries.withLock { entries in
            if entries.count >= Self.maximumCount { entries.removeAll() }
            entries.append(Entry(model: model, operation: operation, decision: decision))
        }
        return decision
    }
}
