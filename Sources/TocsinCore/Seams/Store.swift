/// Durable storage.
///
/// `read` and `write` each run one synchronous closure on a thread of the store. What a `write` closure did is durable
/// when `write` returns; a closure that throws leaves nothing behind. Concurrent writes are committed in groups, each with
/// its own outcome, in the order in which they were called.
package protocol Store: Sendable {
    /// Runs a closure over one consistent snapshot.
    ///
    /// A read whose task is cancelled leaves the queue at once, or is interrupted, and throws `StoreError.stopped`. Clients'
    /// reads take turns by owner; too many of one owner are refused as unavailable, to that owner alone.
    func read<Value: Sendable>(
        for origin: ReadOrigin,
        _ body: @escaping @Sendable (any StoreReader) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value

    /// Runs a closure in the current write group's transaction; again from the start when another write of the group fails,
    /// so it must do nothing outside but answer.
    ///
    /// A write whose task is cancelled before its turn is not begun and throws `StoreError.stopped`; one begun is completed.
    /// Events noted with `StoreWriter.note` reach the store's observer after the commit, in order, before `write` returns.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreWriter) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value

    /// Lets a write wait for its group; it answers its caller itself, maybe before this returns.
    func enqueue(_ write: any QueuedWrite)
    /// What the caller of a write that was enqueued is told of its failure.
    func told(_ failure: StoreError) -> StoreError
}

extension Store {
    /// `read` for the server's own work.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await read(for: .server, body)
    }
}

/// Everything a read may ask.
package protocol StoreReader: ModelReading, MembershipReading, DeviceReading, DeliveryReading, WebhookReading,
    AccountReading, ReadMarkReading, RetentionReading, PartitionReading,
    NodeReading, StorageReading
{}

/// Everything a write may do; it sees its own writes.
package protocol StoreWriter:
    StoreReader, ModelWriting, MembershipWriting, DeviceWriting, DeliveryWriting, WebhookWriting, AccountWriting,
    ReadMarkWriting, RetentionWriting, PartitionWriting, NodeWriting
{
    /// Tells the observer of commits about these events once they are durable.
    func note(_ events: [DomainEvent])
    /// Reads in the same transaction that hold no rows against other writers: for what is looked at before rows are locked
    /// in their order.
    var unlocked: any StoreReader { get }
}

extension StoreWriter {
    /// Tells the observer of commits about this event once it is durable.
    package func note(_ event: DomainEvent) { note([event]) }
}

/// What a read may ask about records of any model, and about feeds.
package protocol ModelReading {
    /// The records with these ids that satisfy the predicate, in no promised order.
    func records(_ model: ModelType, ids: [String], where predicate: Predicate) throws(StoreError) -> [Record]
    func records(_ query: ModelQuery) throws(StoreError) -> [Record]
    /// The first records of a query, none behind the one with which their texts come to so many bytes, and whether more
    /// follow that one; no more is kept in memory on the way.
    func records(_ query: ModelQuery, upTo bytes: Int) throws(StoreError) -> (records: [Record], isCut: Bool)
    /// Pages, in the order of their queries, read together. Throws `tooLarge` when they hold more than may be read at once.
    func pages(_ queries: [PageQuery], _ limits: ExaminationLimits) throws(StoreError) -> [RecordPage]
    /// The message of a topic with the caller's dedupe key.
    func message(_ model: ModelType, topic: TopicID, key: String) throws(StoreError) -> Record?
    /// The messages with these keys, each in its topic; in no promised order.
    func messages(_ model: ModelType, keys: Set<MessageKey>) throws(StoreError) -> [Record]
    /// Whether an owner has this many topics, deleted ones left out.
    func hasTopics(_ count: Int, owner: String) throws(StoreError) -> Bool
    /// The last number handed out in a topic; nil when there is no such topic.
    func lastNumber(of topic: TopicID) throws(StoreError) -> MessageNumber?
    /// The numbers of a topic's messages; nil when there is no such topic.
    func feedBounds(of topic: TopicID) throws(StoreError) -> FeedBounds?
    /// The positions of an owner's messages.
    func feedBounds(of owner: String) throws(StoreError) -> FeedBounds
}

/// What a feed holds.
package struct FeedBounds: Hashable, Sendable {
    /// The lowest place that is still kept; what was below it has been pruned.
    package var first: Int64
    /// The highest place handed out so far; `first - 1` in a feed that holds nothing.
    package var last: Int64

    /// Bounds of a feed; by default of one that never held anything.
    package init(first: Int64 = 1, last: Int64 = 0) {
        self.first = first
        self.last = last
    }
}

/// The caller's dedupe key of a message, in its topic.
package struct MessageKey: Sendable, Hashable {
    /// The topic that the key belongs to.
    package var topicID: TopicID
    /// The key as the client gave it, up to 256 bytes.
    package var key: String

    /// The key of a message in a topic.
    package init(topicID: TopicID, key: String) {
        self.topicID = topicID
        self.key = key
    }

    /// By bytes, as the database compares keys: two spellings of a letter are two keys.
    package static func == (left: Self, right: Self) -> Bool {
        left.topicID == right.topicID && left.key.hasBytes(of: right.key)
    }

    /// Hashes the bytes that `==` compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(topicID)
        for byte in key.utf8 { hasher.combine(byte) }
    }
}

/// How records of any model are written, and numbers are handed out.
package protocol ModelWriting {
    /// Inserts the record unless its id is taken, in which case the stored record is returned and nothing is written.
    ///
    /// A conflict on another unique constraint is a `StoreError.statement`; look first.
    func insert(_ record: Record) throws(StoreError) -> Record?
    /// Replaces all values of the row with the record's id.
    func update(_ record: Record) throws(StoreError)
    /// Removes tombstones of the model that were last changed before `moment`, oldest first, with all that hangs on them; at
    /// most `limit`. Answers how many.
    func removeTombstones(_ model: ModelType, changedBefore moment: Timestamp, limit: Int) throws(StoreError) -> Int
    /// Makes the indexes that the models ask for and the database lacks, and drops those of models or fields that are gone.
    /// Answers the names of those made; to be called once at start.
    func prepareIndexes(of models: [ModelType]) throws(StoreError) -> [String]
    /// Waits for writes that began before and have not ended, and holds up later ones until this one has ended: then every
    /// change that is not to be seen yet will be later than a time read now.
    ///
    /// Needed where writes overlap. A database with one writer at a time does nothing; one with several takes a lock in each
    /// write group, shared. A group in which this is called is begun again with that lock for itself alone: to ask for it in
    /// the middle would make two groups wait for each other.
    func fenceChanges() throws(StoreError)
    /// Locks the rows that messages of these owners in these topics are numbered by, in the order in which all writers do,
    /// and looks at the topics then.
    func hold(
        _ topics: [TopicID],
        of model: ModelType,
        feedsOf owners: [String]
    ) throws(StoreError) -> HeldTopics
    /// Stores new messages, which the database numbers, and notes that they were created.
    ///
    /// They have their numbers once the database has answered: after `awaitAnswers` at the latest, and when the write is
    /// durable. A failure may be thrown as late: of an id that is taken, or of a topic that is not there.
    func create(_ messages: NewMessages) throws(StoreError)
    /// Waits for answers of the database that nobody has waited for.
    func awaitAnswers() throws(StoreError)
}

/// What a read may ask about memberships.
package protocol MembershipReading {
    func memberships(of user: UserID) throws(StoreError) -> [Membership]
    func membership(of user: UserID, in topic: TopicID) throws(StoreError) -> Membership?
    /// The members of a topic after a user, by user, at most `limit`.
    func members(of topic: TopicID, after user: UserID?, limit: Int) throws(StoreError) -> [Membership]
}

/// How memberships are written.
package protocol MembershipWriting {
    func save(_ membership: Membership) throws(StoreError)
    /// Removes the membership; fan-outs that wait still answer its devices, ended.
    func removeMembership(of user: UserID, in topic: TopicID) throws(StoreError)
}

/// What a read may ask about devices.
package protocol DeviceReading {
    /// All devices of a user, active or not, by id.
    func devices(of user: UserID) throws(StoreError) -> [Device]
    func devices(ids: [DeviceID]) throws(StoreError) -> [Device]
    /// Devices of everybody after an id, by id, at most `limit`.
    func devices(after id: DeviceID?, limit: Int) throws(StoreError) -> [Device]
    func device(token: String, appID: String) throws(StoreError) -> Device?
    /// Devices of any app with this token.
    func devices(token: String) throws(StoreError) -> [Device]
    /// Devices of any app whose token begins with this text and a colon.
    func devices(tokenBeginningWith text: String) throws(StoreError) -> [Device]
    /// Whether a user wants no pushes.
    func isMuted(_ user: UserID) throws(StoreError) -> Bool
}

/// How devices are written; what ends with a device ends in the same transaction.
package protocol DeviceWriting {
    /// Inserts the device or replaces the one with its id.
    func save(_ device: Device) throws(StoreError)
    /// Removes the device and notes that; fan-outs that wait still answer it, ended for this reason and without its token.
    func removeDevice(_ id: DeviceID, reason: DeliveryReason) throws(StoreError)
    /// Marks the device inactive if its registration is not newer than `moment`; answers whether it did.
    func retireDevice(_ id: DeviceID, reason: DeliveryReason, registeredBy moment: Timestamp) throws(StoreError) -> Bool
    /// Notes on which side of Apple's a device is, if that is not known yet.
    func learnEnvironment(_ environment: PushEnvironment, of id: DeviceID) throws(StoreError)
    /// Ends the waiting deliveries of a device (its token moved, or was unregistered), and notes each.
    func endDeliveries(of device: DeviceID, reason: DeliveryReason, now: Timestamp) throws(StoreError)
    /// Makes the waiting deliveries of a topic's messages to a user's devices final, and notes each, and that the user wants
    /// none that are on their way.
    func settleDeliveries(
        to user: UserID,
        of topic: TopicID,
        as status: DeliveryStatus,
        reason: DeliveryReason,
        now: Timestamp
    ) throws(StoreError)
    /// Keeps whether a user wants no pushes, and notes it if so.
    func setMuted(_ isMuted: Bool, of user: UserID, now: Timestamp) throws(StoreError)
}

/// What a read may ask about deliveries and fan-outs.
package protocol DeliveryReading {
    /// Deliveries of a message after a device id, by device id, at most `limit`; all states when `status` is nil.
    func deliveries(
        of message: MessageID,
        status: DeliveryStatus?,
        after: DeviceID?,
        limit: Int
    ) throws(StoreError) -> [Delivery]
    /// The deliveries of a message to these devices.
    func deliveries(of message: MessageID, to devices: [DeviceID]) throws(StoreError) -> [Delivery]
    /// Whether a message is still on its way to its topic's devices.
    func isFanningOut(_ message: MessageID) throws(StoreError) -> Bool
    /// Members at a fan-out's `createdAt` who had no active device then; none where the topic has thousands of members.
    func membersWithoutDevice(of fanout: Fanout) throws(StoreError) -> [UserID]
    func deliverySummaries(of messages: [MessageID]) throws(StoreError) -> [MessageID: DeliverySummary]
    /// The next devices of a fan-out: those that were active, of members, at its `createdAt`, in its range, after
    /// `nextDevice`, without a delivery row yet, by id; at most `limit`. What has ended since (retired, removed, or its
    /// owner left the topic) comes inactive, with the reason and without a token; those of members who muted the topic come
    /// marked so. Registering again does not count as an end, and joining later does not bring old messages.
    func nextDevices(of fanout: Fanout, limit: Int) throws(StoreError) -> [Device]
    /// Device ids, rising, that cut a large topic's devices into parts of about so many; none for a topic of few members.
    func deviceCuts(of topic: TopicID, partSize: Int, maximumParts: Int) throws(StoreError) -> [String]
    /// Looks at the next `limit` deliveries after a place: those in a final state since before the moment, and the last one
    /// looked at; nil at the ledger's end.
    func settledDeliveries(
        before moment: Timestamp,
        after place: DeliveryPlace,
        limit: Int
    ) throws(StoreError) -> (due: [DeliveryPlace], last: DeliveryPlace?)
    /// When the earliest waiting delivery, fan-out that nobody holds, or lease is due; nil when there is none.
    func nextDue() throws(StoreError) -> Timestamp?
}

/// How fan-outs and deliveries are made, claimed, settled and removed.
package protocol DeliveryWriting {
    func addFanouts(_ fanouts: [Fanout]) throws(StoreError)
    /// Takes fan-outs that nobody holds (no lease, or one that has run out), oldest first, and leases them to the node.
    func claimFanouts(
        node: String,
        now: Timestamp,
        leaseUntil: Timestamp,
        limit: Int,
        urgentOnly: Bool
    ) throws(StoreError) -> [Fanout]
    /// Moves a held fan-out on to `nextDevice` and renews its lease; false when it is no longer held as it says (node and
    /// `leaseUntil`): then another holder has it, and this one must stop. The holder keeps both new values in its copy.
    func advance(_ fanout: Fanout, nextDevice: String, leaseUntil: Timestamp) throws(StoreError) -> Bool
    /// Removes a held fan-out that has been served; false when it is no longer held as it says.
    func conclude(_ fanout: Fanout) throws(StoreError) -> Bool
    /// Divides a held fan-out of which nothing has been served into ranges that begin at these rising ids, under the same
    /// lease; answers all of them, or none when it is no longer held as it says.
    func split(_ fanout: Fanout, at cuts: [String]) throws(StoreError) -> [Fanout]
    /// Inserts the first deliveries of new messages, none of which is there yet.
    func add(_ deliveries: [Delivery]) throws(StoreError)
    /// Inserts deliveries; one that exists for (message, device) is replaced only if it is not final.
    func save(_ deliveries: [Delivery]) throws(StoreError)
    /// Takes due deliveries (`waiting` with `nextAttemptAt` ≤ now, or `sending` with a lease that ran out), due first, marks
    /// them `sending` under the lease, and returns them with their devices. Those whose device is gone or retired end instead.
    func claimDeliveries(
        now: Timestamp,
        leaseUntil: Timestamp,
        limit: Int
    ) throws(StoreError) -> [(delivery: Delivery, device: Device)]
    /// Writes the outcome of a claimed delivery where its lease still is `lease`; false otherwise.
    func record(_ delivery: Delivery, heldUntil lease: Timestamp) throws(StoreError) -> Bool
    /// Takes back that a device was retired for this reason, and the end of this delivery; false when it is not retired so
    /// any more.
    func restore(_ delivery: Delivery, endedFor reason: DeliveryReason, now: Timestamp) throws(StoreError) -> Bool
    /// Removes those of the deliveries that are in a final state since before the moment, and whose message is on its way to
    /// nobody any more; answers how many.
    func removeDeliveries(_ places: [DeliveryPlace], settledBefore moment: Timestamp) throws(StoreError) -> Int
    /// Removes what older versions wrote in place of deliveries (`deviceless_runs`) and was made before the moment, at most
    /// `limit` rows; answers how many.
    func removeRuns(madeBefore moment: Timestamp, limit: Int) throws(StoreError) -> Int
    /// At start on one machine: drops every lease, for no holder can be alive.
    func dropLeases() throws(StoreError)
    /// Makes deliveries of a message to devices in this state due again, with no attempts counted and a new life time;
    /// answers how many.
    func redrive(_ message: MessageID, status: DeliveryStatus, now: Timestamp) throws(StoreError) -> Int
}

extension DeliveryWriting {
    /// Adds one fan-out.
    package func addFanout(_ fanout: Fanout) throws(StoreError) { try addFanouts([fanout]) }

    /// Takes fan-outs whatever their urgency.
    package func claimFanouts(
        node: String,
        now: Timestamp,
        leaseUntil: Timestamp,
        limit: Int
    ) throws(StoreError) -> [Fanout] {
        try claimFanouts(node: node, now: now, leaseUntil: leaseUntil, limit: limit, urgentOnly: false)
    }
}

/// What a read may ask about accounts, tokens and API keys.
package protocol AccountReading {
    func account(named name: String) throws(StoreError) -> Account?
    func account(_ id: UserID) throws(StoreError) -> Account?
    /// What is known of those users of whom anything is; with `moment` also whether a token that can read is good then.
    func standings(
        of users: Set<UserID>,
        tokensAt moment: Timestamp?
    ) throws(StoreError) -> [UserID: PushRights.Standing]
    func accounts() throws(StoreError) -> [Account]
    /// Accounts that are disabled, by id.
    func disabledAccounts() throws(StoreError) -> [Account]
    func token(_ id: TokenID) throws(StoreError) -> IssuedToken?
    func tokens(of user: UserID?) throws(StoreError) -> [IssuedToken]
    /// Tokens that were revoked, by id.
    func revokedTokens() throws(StoreError) -> [IssuedToken]
    func apiKey(digest: String) throws(StoreError) -> APIKey?
    /// All keys, by id.
    func apiKeys() throws(StoreError) -> [APIKey]
    /// Keys that were revoked, by id.
    func revokedAPIKeys() throws(StoreError) -> [APIKey]
}

/// How accounts, tokens and API keys are written.
package protocol AccountWriting {
    /// Inserts or replaces by id.
    func save(_ account: Account) throws(StoreError)
    /// Inserts or replaces by user.
    func save(_ facts: UserFacts) throws(StoreError)
    /// Replaces what is known of a user where anything is, unless that was said later; answers whether it did.
    func renew(_ facts: UserFacts) throws(StoreError) -> Bool
    func save(_ token: IssuedToken) throws(StoreError)
    func save(_ key: APIKey) throws(StoreError)
}
