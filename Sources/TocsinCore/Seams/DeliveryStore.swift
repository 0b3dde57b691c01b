/// What a read may ask about deliveries.
package protocol DeliveryReading {
    /// Deliveries of a message after a device id, by device id, at most `limit`; all states when
    /// `status` is nil.
    func deliveries(
        of message: MessageID,
        status: DeliveryStatus?,
        after: DeviceID?,
        limit: Int
    ) throws(StoreError) -> [Delivery]
    /// The deliveries of a message to these devices.
    func deliveries(of message: MessageID, to devices: [DeviceID]) throws(StoreError) -> [Delivery]
    /// How the deliveries of each of these messages stand.
    func deliverySummaries(of messages: [MessageID]) throws(StoreError) -> [MessageID: DeliverySummary]
    /// When the earliest waiting delivery, fan-out that nobody holds, or lease is due; nil when
    /// there is none.
    func nextDue() throws(StoreError) -> Timestamp?
    /// What waits for the outbox now, as far as the `limit` oldest rows of each kind tell.
    func pushBacklog(at now: Timestamp, limit: Int) throws(StoreError) -> PushBacklog
    /// Looks at the next `limit` deliveries after a key: those in a final state since before the
    /// moment, and the last one looked at; nil at the ledger's end.
    func settledDeliveries(
        before moment: Timestamp,
        after key: DeliveryKey,
        limit: Int
    ) throws(StoreError) -> (due: [DeliveryKey], last: DeliveryKey?)
    /// Parts of the ledger that may go, as nothing in them is open or was settled since the moment,
    /// and whether new ones are due.
    ///
    /// Where the ledger stands in no parts by time, none are.
    func partitionsToKeep(
        at now: Timestamp,
        spanDays: Int,
        settledBefore moment: Timestamp
    ) throws(StoreError) -> (areDue: Bool, old: [String])
}

/// How deliveries are made, claimed, settled and removed.
package protocol DeliveryWriting {
    /// Inserts the first deliveries of new messages, none of which is there yet.
    func add(_ deliveries: [Delivery]) throws(StoreError)
    /// Inserts deliveries; one that exists for (message, device) is replaced only if it is not
    /// final.
    func save(_ deliveries: [Delivery]) throws(StoreError)
    /// Takes due deliveries, due first, marks them `sending` under the lease, and returns them with
    /// their devices.
    ///
    /// Due are those that are `waiting` with `nextAttemptAt` ≤ now, or `sending` with a lease that
    /// ran out. Those whose device is gone or retired end instead.
    func claimDeliveries(
        now: Timestamp,
        leaseUntil: Timestamp,
        limit: Int
    ) throws(StoreError) -> [(delivery: Delivery, device: Device)]
    /// Writes the outcome of a claimed delivery where its lease still is `lease`; false otherwise.
    func record(_ delivery: Delivery, heldUntil lease: Timestamp) throws(StoreError) -> Bool
    /// Takes back that a device was retired for this reason, and the end of this delivery; false
    /// when it is not retired so any more.
    func restore(_ delivery: Delivery, endedFor reason: DeliveryReason, now: Timestamp) throws(StoreError) -> Bool
    /// Ends the waiting deliveries of a device (its token moved, or was unregistered), and notes
    /// each.
    func endDeliveries(of device: DeviceID, reason: DeliveryReason, now: Timestamp) throws(StoreError)
    /// Makes the waiting deliveries of a topic's messages to a user's devices final, and notes
    /// each, and that the user wants none that are on their way.
    func settleDeliveries(
        to user: UserID,
        of topic: TopicID,
        as status: DeliveryStatus,
        reason: DeliveryReason,
        now: Timestamp
    ) throws(StoreError)
    /// Makes deliveries of a message in this state due again, with no attempts counted and a new
    /// life time: those for this reason and to these devices, for nil whatever it is and to every
    /// device; answers how many.
    func redrive(
        _ message: MessageID,
        status: DeliveryStatus,
        reason: DeliveryReason?,
        to devices: [DeviceID]?,
        now: Timestamp
    ) throws(StoreError) -> Int
    /// At start on one machine: drops every lease, also on fan-outs and on events for webhooks, for
    /// no holder can be alive.
    func dropLeases() throws(StoreError)
    /// Removes those of the deliveries that are in a final state since before the moment, and whose
    /// message is on its way to nobody any more; answers how many.
    func removeDeliveries(_ keys: [DeliveryKey], settledBefore moment: Timestamp) throws(StoreError) -> Int
    /// Makes parts of the ledger for the span of so many days that is now and the next two, and
    /// drops these old ones unless something in them has opened again.
    func keepPartitions(at now: Timestamp, spanDays: Int, dropping old: [String]) throws(StoreError) -> PartitionUpkeep
    /// Removes what older versions wrote in place of deliveries (`deviceless_runs`) and was made
    /// before the moment, at most `limit` rows; answers how many.
    func removeRuns(madeBefore moment: Timestamp, limit: Int) throws(StoreError) -> Int
}

/// What upkeep of the ledger's parts did.
package struct PartitionUpkeep: Sendable, Hashable {
    /// Parts made.
    package var made = 0
    /// Parts dropped.
    package var dropped = 0

    /// Upkeep that did nothing.
    package init() {}
}
