import GraphQL
import GraphQLTransport
import JSON
import Synchronization
import TocsinCore

/// Subscribers that get the same bytes: equal in document, variables that matter, visibility and error style.
struct GroupKey: Hashable, Sendable {
    var query: String
    var operationName: String?
    var variables: JSONObject
    var rights: CallerRights
    var isAppSync: Bool
}

/// One plan that runs once per event for all its members.
final class LiveGroup: Sendable {
    let key: GroupKey
    let interest: LiveInterest
    let plan: ExecutionPlan
    let variables: JSONObject
    let context: RequestContext
    /// The subscription's root field.
    let fieldName: String
    private let members = Mutex([ObjectIdentifier: LiveMember]())

    init(
        key: GroupKey,
        interest: LiveInterest,
        plan: ExecutionPlan,
        variables: JSONObject,
        context: RequestContext,
        fieldName: String
    ) {
        self.key = key
        self.interest = interest
        self.plan = plan
        self.variables = variables
        self.context = context
        self.fieldName = fieldName
    }

    func add(_ member: LiveMember) {
        members.withLock { $0[ObjectIdentifier(member)] = member }
    }

    /// Removes a member; answers whether the group is empty now.
    func remove(_ member: LiveMember) -> Bool {
        members.withLock { members in
            members[ObjectIdentifier(member)] = nil
            return members.isEmpty
        }
    }

    var snapshot: [LiveMember] { members.withLock { Array($0.values) } }
}
