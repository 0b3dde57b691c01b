public import JSON

extension ExecutableSchema {
    /// Finds the events of a subscription through its registered source (GraphQL §6.2.3.1
    /// CreateSourceEventStream).
    ///
    /// Throws what is wrong with the request, or the error of the source with its location.
    @inlinable
    public func createSourceEventStream(
        _ plan: ExecutionPlan,
        variables: JSONObject = [:],
        root: Object,
        context: Context,
        options: ExecutionOptions = ExecutionOptions()
    ) async throws(RequestErrors) -> SourceStream<Object> {
        let stream = try await core.openSource(
            plan,
            variables,
            root: ObjectColumn([root]),
            context: ContextBox(context),
            options: options
        )
        return unsafeDowncast(stream.box, to: SourceStream<Object>.self)
    }

    /// Answers a subscription with a stream of responses (GraphQL §6.2.3 Subscribe).
    ///
    /// Throws what is wrong with the request, or the error of the source with its location.
    @inlinable
    public func subscribe(
        _ plan: ExecutionPlan,
        variables: JSONObject = [:],
        root: Object,
        context: Context,
        options: ExecutionOptions = ExecutionOptions()
    ) async throws(RequestErrors) -> ResponseStream {
        let source = try await createSourceEventStream(
            plan,
            variables: variables,
            root: root,
            context: context,
            options: options
        )
        return ResponseStream { () async throws(GraphQLError) in
            guard let event = try await source.next() else { return nil }
            return await executeEvent(plan, variables: variables, event: event, context: context, options: options)
        }
    }
}

extension ExecutionCore {
    /// Asks the source of a subscription for its stream.
    @usableFromInline
    func openSource(
        _ plan: ExecutionPlan,
        _ variables: JSONObject,
        root: any RowOwner,
        context: any Shared,
        options: ExecutionOptions
    ) async throws(RequestErrors) -> ErasedStream {
        guard plan.operationKind == .subscription else { throw refusal("The operation is no subscription.") }
        let request = try prepare(plan, variables, suggests: options.suggests)
        let resolver = LevelResolver(plan, request, bindings, context: context, hasTimeLeft: nil)
        guard let step = resolver.steps.ranges[request.tree.root].first else {
            throw refusal("The subscription selects no field.")
        }
        let field = resolver.steps.memory[step].field
        guard let find = bindings.erased.sources[field.field.coordinate] else {
            throw refusal("\(field.field.coordinate) has no source of events; register one.")
        }
        do throws(GraphQLError) {
            return try await find(root, FieldCall(resolver.steps.memory[step], in: resolver))
        } catch {
            var error = error
            if error.locations.isEmpty { error.locations = request.locations(of: field) }
            error.path = [.key(field.responseKey)]
            throw RequestErrors(kind: .operation, errors: [error])
        }
    }

    private func refusal(_ message: String) -> RequestErrors {
        RequestErrors(kind: .operation, errors: [GraphQLError(message)])
    }
}
