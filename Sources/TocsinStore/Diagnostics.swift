import TocsinCore

/// Tells the operator about failures in full, each kind at most once a second, and callers
/// only what concerns them.
struct Diagnostics: Sendable {
    private let sink: @Sendable (StoreError) -> Void
    private let told = Mutexed<[Kind: ContinuousClock.Instant]>([:])

    private enum Kind: Hashable {
        case unavailable(reason: String)
        case statement(code: Int)
        case mismatch
    }

    init(_ sink: @escaping @Sendable (StoreError) -> Void) {
        self.sink = sink
    }

    /// Reports the error; answers it as its caller gets it.
    func report(_ error: StoreError) -> StoreError {
        switch error {
        case .unavailable(let reason, _):
            tell(error, .unavailable(reason: reason))
            return .unavailable(reason: reason)
        case .uncertain(let reason, _):
            tell(error, .unavailable(reason: reason))
            return .uncertain(reason: reason)
        case .overtaken(_, let code, _, _), .statement(let code, _, _): tell(error, .statement(code: code))
        case .mismatch: tell(error, .mismatch)
        // Who sent the text is told: nothing is wrong here.
        case .tooLarge, .unstorable, .stopped: break
        }
        return error
    }

    private func tell(_ error: StoreError, _ kind: Kind) {
        let now = ContinuousClock.now
        let isDue = told.withLock { told in
            if let last = told[kind], now - last < .seconds(1) { return false }
            // Only what was told within the second matters.
            if told.count >= 64 { told = told.filter { now - $0.value < .seconds(1) } }
            told[kind] = now
            return true
        }
        if isDue { sink(error) }
    }
}
