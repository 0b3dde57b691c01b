import GraphQL
import GraphQLTransport
import JSON
import Synchronization
import TocsinCore

/// One subscriber to deliveries.
typealias DeliveryMember = QueuedMember<DeliveryKey>

/// What a delivery is known by.
struct DeliveryKey: Hashable, Sendable {
    var message: MessageID
    var device: DeviceID
}

/// Subscribers to deliveries that get the same bytes; one plan runs once per
/// delivery for all of them.
final class DeliveryGroup: Sendable {
    /// What those ask for who are one group.
    struct Key: Hashable, Sendable {
        var request: GroupKey
        /// Whether they hear of pushes to their own devices alone.
        var isOwnOnly: Bool
    }

    let key: Key
    /// The one message they listen to; nil: all that they may inspect.
    let message: Record?
    let permitted: Predicate
    let plan: ExecutionPlan
    let context: RequestContext
    private let members = Mutex([ObjectIdentifier: DeliveryMember]())

    init(
        key: Key,
        message: Record?,
        permitted: Predicate,
        plan: ExecutionPlan,
        context: RequestContext
    ) {
        self.key = key
        self.message = message
        self.permitted = permitted
        self.plan = plan
        self.context = context
    }

    /// Whether the group is to hear of a delivery of this message.
    func includes(_ message: Record, _ isGranted: (GrantQuestion, Record) -> Bool) -> Bool {
        (self.message == nil || self.message?.id == message.id) && permitted.matches(message) { isGranted($0, message) }
    }

    /// Whether the message that they named is still theirs to hear of; true where they named none.
    func isPermitted(_ isGranted: (GrantQuestion, Record) -> Bool) -> Bool {
        message.map { includes($0, isGranted) } ?? true
    }

    /// Those who are to hear of pushes to devices of this user.
    func members(hearingOf user: UserID?) -> [DeliveryMember] {
        key.isOwnOnly ? snapshot.filter { $0.caller.userID == user } : snapshot
    }

    func add(_ member: DeliveryMember) {
        members.withLock { $0[ObjectIdentifier(member)] = member }
    }

    /// Removes a member; answers whether the group is empty now.
    func remove(_ member: DeliveryMember) -> Bool {
        members.withLock { members in
            members[ObjectIdentifier(member)] = nil
            return members.isEmpty
        }
    }

    var snapshot: [DeliveryMember] { members.withLock { Array($0.values) } }
}
