import GraphQL
import GraphQLTransport
import JSON
import TocsinCore

extension TocsinGraphQL {
    /// The subscription to how far the caller has read.
    static let readStateField = "onReadState"

    /// Subscribes to what the caller reads at any device, from now on.
    func joinReadState(
        _ plan: ExecutionPlan,
        _ field: SubscriptionSource,
        _ request: GraphQLRequest,
        _ caller: Identity,
        _ style: ResponseStyle,
        _ sink: any ResponseSink
    ) throws(RequestErrors) -> any StreamHandle {
        guard services.readMarks.mayLook(caller) else { throw RequestErrors(refusal(.unauthorized, of: field)) }
        let member = ReadStateMember(
            ReadStateMember.Asked(plan: plan, variables: request.variables, isAppSync: style == .appSync),
            caller: caller,
            services,
            executor,
            sink: sink
        )
        guard feed.follow(member) else { throw RequestErrors(Self.stopping) }
        sink.caughtUp()
        return member
    }
}
