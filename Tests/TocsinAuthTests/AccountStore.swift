import Synchronization
import TocsinCore

/// The accounts and tokens of a store, in memory; it has nothing else.
final class AccountStore: Store {
    private let rows = Mutex(Rows())
    private let problem = Mutex<StoreError?>(nil)
    private let readCount = Mutex(0)

    var reads: Int { readCount.withLock { $0 } }

    func change(_ change: (inout Rows) -> Void) { rows.withLock { change(&$0) } }

    func fail(_ error: StoreError?) { problem.withLock { $0 = error } }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        readCount.withLock { $0 += 1 }
        if let error = problem.withLock({ $0 }) { throw error }
        return try body(rows.withLock { $0 })
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreWriter) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        throw .stopped
    }
}

/// One snapshot.
struct Rows: StoreReader {
    var users: [UserID: Account] = [:]
    var issued: [TokenID: IssuedToken] = [:]
    var keys: [APIKey] = []

    func account(named name: String) throws(StoreError) -> Account? { users.values.first { $0.name == name } }
    func account(_ id: UserID) throws(StoreError) -> Account? { users[id] }
    func accounts() throws(StoreError) -> [Account] { Array(users.values) }
    func token(_ id: TokenID) throws(StoreError) -> IssuedToken? { issued[id] }
    func tokens(of user: UserID?) throws(StoreError) -> [IssuedToken] { Array(issued.values) }

    func apiKey(digest: String) throws(StoreError) -> APIKey? { keys.first { $0.digest == digest } }
    func apiKeys() throws(StoreError) -> [APIKey] { keys }
    func disabledAccounts() throws(StoreError) -> [Account] { [] }
    func revokedTokens() throws(StoreError) -> [IssuedToken] { [] }
    func revokedAPIKeys() throws(StoreError) -> [APIKey] { [] }

    func records(_ model: ModelType, ids: [String], where predicate: Predicate) throws(StoreError) -> [Record] { [] }
    func records(_ query: ModelQuery) throws(StoreError) -> [Record] { [] }
    func readMarks(of user: UserID) throws(StoreError) -> [ReadMark] { [] }
    func partitionsToKeep(
        at now: Timestamp,
        spanDays: Int,
        settledBefore moment: Timestamp
    ) throws(StoreError) -> (areDue: Bool, old: [String]) { (false, []) }
    func topicsToPrune(
        _ bounds: PruningBounds,
        after topic: TopicID,
        limit: Int
    ) throws(StoreError) -> (due: [TopicID], last: TopicID?) { ([], nil) }
    func messagesToPrune(_ bounds: PruningBounds, of topic: TopicID, limit: Int) throws(StoreError) -> [MessageID] {
        []
    }
    func message(_ model: ModelType, topic: TopicID, key: String) throws(StoreError) -> Record? { nil }
    func messages(_ model: ModelType, keys: Set<MessageKey>) throws(StoreError) -> [Record] { [] }
    func hasTopics(_ count: Int, owner: String) throws(StoreError) -> Bool { false }
    func lastNumber(of topic: TopicID) throws(StoreError) -> MessageNumber? { nil }
    func feedBounds(of topic: TopicID) throws(StoreError) -> FeedBounds? { nil }
    func feedBounds(of owner: String) throws(StoreError) -> FeedBounds { FeedBounds() }
    func memberships(of user: UserID) throws(StoreError) -> [Membership] { [] }
    func membership(of user: UserID, in topic: TopicID) throws(StoreError) -> Membership? { nil }
    func devices(of user: UserID) throws(StoreError) -> [Device] { [] }
    func devices(ids: [DeviceID]) throws(StoreError) -> [Device] { [] }
    func device(token: String, appID: String) throws(StoreError) -> Device? { nil }
    func devices(token: String) throws(StoreError) -> [Device] { [] }
    func nodes(seenSince moment: Timestamp) throws(StoreError) -> [NodeEntry] { [] }
    func devices(tokenBeginningWith text: String) throws(StoreError) -> [Device] { [] }
    func isMuted(_ user: UserID) throws(StoreError) -> Bool { false }
    func deliveries(
        of message: MessageID,
        status: DeliveryStatus?,
        after: DeviceID?,
        limit: Int
    ) throws(StoreError) -> [Delivery] { [] }
    func deliveries(of message: MessageID, to devices: [DeviceID]) throws(StoreError) -> [Delivery] { [] }
    func isFanningOut(_ message: MessageID) throws(StoreError) -> Bool { false }
    func membersWithoutDevice(of fanout: Fanout) throws(StoreError) -> [UserID] { [] }
    func deliverySummaries(of messages: [MessageID]) throws(StoreError) -> [MessageID: DeliverySummary] { [:] }
    func nextDevices(of fanout: Fanout, limit: Int) throws(StoreError) -> [Device] { [] }
    func membersIfNoneHasDevice(
        of topics: Set<TopicID>,
        atMost limit: Int
    ) throws(StoreError) -> [TopicID: [UserID]] { [:] }
    func deviceCuts(of topic: TopicID, partSize: Int, maximumParts: Int) throws(StoreError) -> [String] { [] }
    func settledDeliveries(
        before moment: Timestamp,
        after place: DeliveryPlace,
        limit: Int
    ) throws(StoreError) -> (due: [DeliveryPlace], last: DeliveryPlace?) { ([], nil) }
    func nextDue() throws(StoreError) -> Timestamp? { nil }
    func nextWebhookEventDue(of webhook: String) throws(StoreError) -> Timestamp? { nil }
    func webhookEvents(status: WebhookEvent.Status?, limit: Int) throws(StoreError) -> [WebhookEvent] { [] }
}
