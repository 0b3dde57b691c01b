import GraphQL
import GraphQLTransport
import JSON
import Synchronization
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
        let member = WokenMember(
            caller: caller,
            sink: sink,
            gone: "You may not see this incident any more.",
            unavailable: "The timeline cannot be read just now. Subscribe again with after: and the last number.",
            look: timeline(of: id, after: given ?? last, plan, request.variables, style)
        )
        guard feed.join(member, to: id, in: feed.entries) else { throw RequestErrors(Self.stopping) }
        member.catchUp()
        return member
    }

    /// Reads on from the last entry that was handed over, in their order and without a gap.
    private func timeline(
        of incident: String,
        after last: Int64,
        _ plan: ExecutionPlan,
        _ variables: JSONObject,
        _ style: ResponseStyle
    ) -> WokenMember.Look {
        let last = Mutex(last)
        let pageSize = 50
        return { [services, executor] member throws(ServiceError) in
            let entries = try await services.incidents.entriesSeen(
                of: incident,
                after: last.withLock { $0 },
                limit: pageSize,
                caller: member.caller
            )
            for entry in entries {
                let context = RequestContext(caller: member.caller, services: services)
                let body = await executor.execute(.entry(entry), plan, variables, context, style)
                guard await member.handOver(SharedResponse(body: body)) else { return false }
                last.withLock { $0 = entry.number }
            }
            return entries.count == pageSize
        }
    }
}
