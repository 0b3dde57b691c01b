/// Takes events that are decided in the transaction that takes them.
package protocol DecidingIntake: Sendable {
    /// Calls `deciding` under the lock of the integration's topic, takes its events in their order,
    /// and answers its value; all is one transaction.
    ///
    /// Calls `deciding` under the lock of the topic, takes its events in their order, and answers
    /// its value; all is one transaction.
    func take<Value: Sendable>(
        from integration: Integration,
        deciding: @escaping @Sendable (any StoreWriter) throws(StoreError) -> (events: [SenderEvent], value: Value)
    ) async throws(ServiceError) -> Value
}
