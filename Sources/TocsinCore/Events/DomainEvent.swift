/// Something that happened and is durable.
package enum DomainEvent: Sendable, Hashable {
    case created(Record)
    case updated(Record)
    case deleted(Record)
    /// Fan-outs or due deliveries wait for the outbox.
    case outboxFilled
    /// Events wait for webhooks.
    case webhooksFilled
    /// Apart, because events are many and mostly smaller.
    indirect case deliveryChanged(Delivery)
    /// A device was removed: nothing more goes to its token for its former owner, for this reason.
    case deviceEnded(DeviceID, reason: DeliveryReason)
    /// A user wants no pushes any more, of a topic or of all; what is read from now on shows it.
    case pushesUnwanted(UserID, TopicID?, DeliveryReason)
    /// A local token was revoked, or its user disabled or enabled again: whoever remembers rights asks anew.
    case accessEnded(UserID, TokenID?)
}
