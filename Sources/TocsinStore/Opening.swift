import TocsinCore

/// Whether the database is open and at this program's level, and if not, why.
///
/// A server that other machines run may be away when this one starts: then the store goes on trying, with each write.
struct Opening: Sendable {
    private let failure = Mutexed<StoreError?>(.unavailable(reason: "the database is being opened"))

    func succeeded() { failure.withLock { $0 = nil } }

    func failed(_ error: StoreError) { failure.withLock { $0 = error } }

    /// Throws why the database is not open.
    func check() throws(StoreError) {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
