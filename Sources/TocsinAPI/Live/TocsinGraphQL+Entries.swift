import GraphQL
import GraphQLTransport
import JSON
import TocsinCore

extension TocsinGraphQL {
    /// The subscription to an incident's timeline.
    static let entryField = "onIncidentEntry"

    /// Subscribes to the timeline of an incident that the caller may see: after a number, with what
    /// is there already; without one, to what comes.
    func joinEntries(
        _ plan: ExecutionPlan,
        _ field: SubscriptionSource,
        _ request: GraphQLRequest,
        _ caller: Identity,
        _ style: ResponseStyle,
        _ sink: any ResponseSink
    ) async throws(RequestErrors) -> any StreamHandle {
        let id = field.arguments["incidentId"]?.stringValue ?? ""
        let given = field.arguments["after"]?.intValue
        let last: Int64
        do throws(ServiceError) {
            if let given, given < 0 { throw .badInput("after must not be negative; it is \(given).") }
            last = try await services.incidents.lastEntry(of: id, caller: caller)
        } catch {
            throw RequestErrors(refusal(error, of: field))
        }
        let member = EntryMember(
            EntryMember.Asked(
                incidentID: id,
                plan: plan,
                variables: request.variables,
                isAppSync: style == .appSync
            ),
            after: given ?? last,
            caller: caller,
            services,
            executor,
            sink: sink
        )
        guard feed.follow(member) else { throw RequestErrors(Self.stopping) }
        // What came before it had joined is found by this look.
        member.wake()
        return member
    }
}
