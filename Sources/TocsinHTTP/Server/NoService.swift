package import GraphQLTransport

/// A service for servers without GraphQL: it knows nobody and runs nothing.
package struct NoService: GraphQLService {
    /// The one there is.
    package init() {}

    /// Refuses everybody.
    package func authenticate(_ credentials: Credentials) async -> AuthenticationOutcome<Never> {
        .refused(message: "This server serves no GraphQL.")
    }

    /// Never called.
    package func expiry(of caller: Never) -> Int64? {}

    /// Never called.
    package func operation(of request: GraphQLRequest, caller: Never, style: ResponseStyle) -> OperationLookup {}

    /// Never called.
    package func execute(_ request: GraphQLRequest, caller: Never, style: ResponseStyle) async -> GraphQLReply {}

    /// Never called.
    package func subscribe(
        _ request: GraphQLRequest,
        caller: Never,
        options: SubscribeOptions,
        sink: any ResponseSink
    ) async -> SubscribeOutcome {}
}
