extension IncidentBook: DecidingIntake {
    /// Takes events that are decided in their own transaction, under the lock of the topic.
    package func take<Value: Sendable>(
        from integration: Integration,
        deciding: @escaping @Sendable (any StoreWriter) throws(StoreError) -> (events: [SenderEvent], value: Value)
    ) async throws(ServiceError) -> Value {
        let book = self
        return try await environment.store.writing { writer throws(StoreError) in
            guard let (topic, author) = try book.publisher(integration, writer.unlocked) else {
                return .failure(.unauthorized)
            }
            let turn = try IncidentTurn(book, topic, by: author, writer)
            let decided = try deciding(writer)
            for event in decided.events { _ = try turn.take(Self.cleaned(event), from: integration) }
            try turn.end()
            return .success(decided.value)
        }
    }
}
