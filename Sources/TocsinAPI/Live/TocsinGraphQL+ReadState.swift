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
        let member = WokenMember(
            caller: caller,
            sink: sink,
            gone: "You may not see how far you have read any more.",
            unavailable: "What was read cannot be looked up just now. Subscribe again, then ask for readState."
        ) { [services, executor] member throws(ServiceError) in
            // Several changes may become one response, which says the newest.
            let marks = try await services.readMarks.marks(caller: member.caller)
            let context = RequestContext(caller: member.caller, services: services)
            let body = await executor.execute(.readState(marks), plan, request.variables, context, style)
            _ = await member.handOver(SharedResponse(body: body))
            return false
        }
        guard feed.join(member, to: caller.userID, in: feed.readStates) else { throw RequestErrors(Self.stopping) }
        sink.caughtUp()
        return member
    }
}
