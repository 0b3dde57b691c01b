import GraphQL
import GraphQLTransport
import JSON
import Synchronization
import TocsinCore

/// Subscribers that get the same bytes: equal in document, variables that matter,
/// visibility and error style.
struct GroupKey: Hashable, Sendable {
    var query: String
    var operationName: String?
    var variables: JSONObject
    var rights: CallerRights
    var isAppSync: Bool

    var owner: String { rights.owner }
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
    let order = LiveOrder()
    /// What it has in common with all to whom messages of shared topics look alike; nil where what
    /// it asks for shows each reader something else.
    let readersKey: GroupKey?
    /// Whose turns it takes.
    var owner: String { key.rights.owner }
    private let state = Mutex(State())

    private struct State {
        var members: [ObjectIdentifier: LiveMember] = [:]
        /// The members by their senders; nil when they have changed.
        var rosters: [LiveRoster]?
    }

    init(
        key: GroupKey,
        interest: LiveInterest,
        plan: ExecutionPlan,
        variables: JSONObject,
        context: RequestContext,
        fieldName: String,
        readersKey: GroupKey? = nil
    ) {
        self.key = key
        self.interest = interest
        self.plan = plan
        self.variables = variables
        self.context = context
        self.fieldName = fieldName
        self.readersKey = readersKey
    }

    func add(_ member: LiveMember) {
        state.withLock { state in
            state.members[ObjectIdentifier(member)] = member
            state.rosters = nil
        }
    }

    /// Removes a member; answers whether the group is empty now.
    func remove(_ member: LiveMember) -> Bool {
        state.withLock { state in
            state.members[ObjectIdentifier(member)] = nil
            state.rosters = nil
            return state.members.isEmpty
        }
    }

    var snapshot: [LiveMember] { state.withLock { Array($0.members.values) } }

    /// The members as they are now, by their senders.
    var rosters: [LiveRoster] {
        state.withLock { state in
            if let rosters = state.rosters { return rosters }
            let rosters = LiveRoster.rosters(of: state.members.values)
            state.rosters = rosters
            return rosters
        }
    }
}
