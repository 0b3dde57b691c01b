import GraphQL
import GraphQLTransport
import JSON
import Synchronization
import TocsinCore

/// Subscribers to deliveries that get the same bytes; one plan runs once per
/// delivery for all of them.
final class DeliveryGroup: Sendable {
    let key: GroupKey
    /// The one message they listen to; nil: all that they may inspect.
    let messageID: MessageID?
    let inspectable: Predicate
    let plan: ExecutionPlan
    let context: RequestContext
    private let members = Mutex([ObjectIdentifier: DeliveryMember]())

    init(
        key: GroupKey,
        messageID: MessageID?,
        inspectable: Predicate,
        plan: ExecutionPlan,
        context: RequestContext
    ) {
        self.key = key
        self.messageID = messageID
        self.inspectable = inspectable
        self.plan = plan
        self.context = context
    }

    /// Whether the group is to hear of a delivery of this message.
    func includes(_ message: Record, _ isGranted: (GrantQuestion, Record) -> Bool) -> Bool {
        (messageID == nil || messageID?.text == message.id)
            && inspectable.matches(message) { isGranted($0, message) }
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
