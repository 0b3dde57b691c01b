import Logging
import TocsinAuth
import TocsinCore
import TocsinPostgres
import TocsinStore

#if TOCSIN_NATS
import TocsinNATS
#endif

/// Makes what a node among others has.
extension Wiring {
    /// The doorbell that the settings name; nil for none.
    static func doorbell(_ settings: Settings, instance: String) throws(StartError) -> (any Doorbell)? {
        switch settings.server.doorbell {
        case .off: return nil
        case .database:
            guard let database = database(settings) as? PostgresDatabase else { return nil }
            return PostgresDoorbell(database, instance: instance)
        case .postgres(let url): return PostgresDoorbell(PostgresDatabase(url: url.contents), instance: instance)
        case .nats(let urls):
            #if TOCSIN_NATS
            do {
                return try NATSDoorbell(urls: urls.contents, instance: instance)
            } catch {
                throw StartError("TOCSIN_DOORBELL: \(error.description)")
            }
            #else
            throw StartError("TOCSIN_DOORBELL: this program was built without NATS (\(urls)).")
            #endif
        }
    }

    static func roster(
        _ node: NodeIdentity,
        serverKey: ServerKey,
        store: any Store,
        listeners: DeliveryListeners,
        logger: Logger
    ) -> NodeRegistry {
        let mark = serverKey.derived(for: .nodeMark).prefix(8).map { byte in
            String(byte, radix: 16)
        }.joined(separator: "-")
        return NodeRegistry(
            store: store,
            time: node.time,
            entry: NodeEntry(instance: node.instance, name: node.name, keyMark: mark, startedAt: node.time.now()),
            listeners: listeners,
            logger: logger
        )
    }
}
