/// Takes events that are decided in the transaction that takes them.
package protocol DecidingIntake: Sendable {
    /// Calls `deciding` under the lock of the topic, takes its events in their order, and answers
    /// its value; all is one transaction.
    ///
    /// Throws `unauthorized` before anything is decided where the topic is gone, or the owner of
    /// the integration may not publish there any more.
    func take<Value: Sendable>(
        from integration: Integration,
        deciding: @escaping @Sendable (any StoreWriter) throws(StoreError) -> (events: [SenderEvent], value: Value)
    ) async throws(ServiceError) -> Value
}
