package import JSON

/// A change of a part that has been checked; running it cannot fail and does not wait.
typealias ReloadStep = @Sendable () -> Void

/// What came of a reload.
package struct ReloadOutcome: Sendable, Hashable {
    /// Whether anything was taken.
    package enum Result: String, Sendable, Hashable, CaseIterable {
        /// Everything that was read is in force.
        case applied
        /// Something was wrong, so all is as before.
        case refused
    }

    /// Whether anything was taken.
    package var result: Result
    /// Settings that have other values now, by their keys; nothing where it was refused.
    package var changed: [String] = []
    /// Settings that were changed and need a restart.
    package var pending: [String] = []
    /// What stopped the reload, a sentence each.
    package var problems: [String] = []
    /// What was warned of.
    package var warnings: [String] = []

    /// The outcome for programs.
    package var json: JSONValue {
        let lists = [
            ("changed", changed), ("pendingRestart", pending), ("problems", problems), ("warnings", warnings),
        ]
        return .object(
            JSONObject(
                [("result", .string(result.rawValue))]
                    + lists.map { ($0.0, JSONValue.array($0.1.map { JSONValue.string($0) })) }
            )
        )
    }
}

/// How many reloads there were, by what came of them.
package struct ReloadCounts: Sendable, Hashable {
    /// Those that were applied.
    package var applied = 0
    /// Those that were refused.
    package var refused = 0

    /// How many had this result.
    package subscript(result: ReloadOutcome.Result) -> Int {
        switch result {
        case .applied: applied
        case .refused: refused
        }
    }

    mutating func note(_ result: ReloadOutcome.Result) {
        switch result {
        case .applied: applied += 1
        case .refused: refused += 1
        }
    }
}
