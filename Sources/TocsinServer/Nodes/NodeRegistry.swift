import Logging
import Synchronization
import TocsinAuth
import TocsinCore

/// Which nodes live: each says so every few seconds, and with it whether somebody
/// there listens to deliveries.
struct NodeRegistry: Sendable {
    let store: any Store
    let time: any TimeSource
    let entry: NodeEntry
    let listeners: DeliveryListeners
    let logger: Logger

    /// The entry tells the server's key by a digest.
    init(_ node: NodeIdentity, serverKey: ServerKey, store: StorePart, logger: Logger) {
        self.store = store.store
        time = node.time
        listeners = store.listeners
        self.logger = logger
        let mark = serverKey.derived(for: .nodeMark).prefix(8).map { String($0, radix: 16) }.joined(separator: "-")
        entry = NodeEntry(instance: node.instance, name: node.name, keyMark: mark, startedAt: node.time.now())
    }

    private static let roundSeconds = 1.0
    /// After so long a node says again what it said before.
    private static let quietSeconds = 5.0

    /// Enters this node.
    ///
    /// Throws when one that lives has another server key: a token of the one would
    /// be refused by the other.
    ///
    /// While the database is away nobody is asked; `run` enters the node later.
    func join() async throws(StartError) {
        let since = time.now().adding(seconds: -NodeEntry.lifeSeconds)
        let others: [NodeEntry]
        do {
            others = try await store.read { reader throws(StoreError) in try reader.nodes(seenSince: since) }
        } catch {
            return logger.debug(
                "other nodes cannot be asked for",
                metadata: ["event": "nodes_unread", "reason": "\(error)"]
            )
        }
        if let other = others.first(where: { $0.keyMark != entry.keyMark }) {
            throw StartError(
                "Node \(other.name) on this database has another server key, so that tokens and cursors of the one would be "
                    + "refused by the other. Give all nodes the same TOCSIN_SERVER_KEY (or file server.key); a node that has "
                    + "just ended counts for \(Int(NodeEntry.lifeSeconds)) s."
            )
        }
        if others.contains(where: { $0.name == entry.name }) {
            logger.warning(
                "another node has this one's name, or had it shortly ago",
                metadata: ["event": "node_name_taken", "name": "\(entry.name)"]
            )
        }
        await say(wantsDeliveries: listeners.isAnybodyHere)
    }

    /// Keeps saying that this node lives, until the task is cancelled; calls `greet` each time, for
    /// those whose registry it may not stand in.
    ///
    /// The time is asked, not the rounds: a node that was stalled says so in the first one after.
    func run(greet: @Sendable () -> Void) async {
        var said = false
        var saidAt = time.now()
        while (try? await time.sleep(until: time.now().adding(seconds: Self.roundSeconds))) != nil {
            let (wants, now) = (listeners.isAnybodyHere, time.now())
            guard wants != said || now >= saidAt.adding(seconds: Self.quietSeconds) || now < saidAt else { continue }
            await say(wantsDeliveries: wants)
            (said, saidAt) = (wants, now)
            greet()
        }
    }

    func leave() async {
        let instance = entry.instance
        do {
            try await store.write { writer throws(StoreError) in try writer.removeNode(instance: instance) }
        } catch {
            logger.debug(
                "the node could not sign off",
                metadata: ["event": "node_not_signed_off", "reason": "\(error)"]
            )
        }
    }

    private func say(wantsDeliveries: Bool) async {
        var entry = entry
        entry.wantsDeliveries = wantsDeliveries
        entry.seenAt = time.now()
        let current = entry
        do {
            try await store.write { writer throws(StoreError) in try writer.save(current) }
        } catch {
            logger.debug(
                "the node could not be entered",
                metadata: ["event": "node_not_entered", "reason": "\(error)"]
            )
        }
    }
}
