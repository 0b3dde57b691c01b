extension Store {
    /// Removes what is over in small transactions, so that no writer waits for long; answers how
    /// many rows went.
    ///
    /// It ends with the first transaction that finds fewer rows than it may remove, or with the
    /// task.
    ///
    /// - Parameters:
    ///   - limit: Rows removed at most in one transaction; other writes wait that long.
    ///   - remove: Removes so many rows at most, and answers how many it removed.
    package func removing(
        atOnce limit: Int,
        _ remove: @escaping @Sendable (any StoreWriter, _ limit: Int) throws(StoreError) -> Int
    ) async throws(ServiceError) -> Int {
        var (total, removed) = (0, limit)
        while removed >= limit, !Task.isCancelled {
            removed = try await writing { writer throws(StoreError) in .success(try remove(writer, limit)) }
            total += removed
        }
        return total
    }
}
