import TocsinCore
import TocsinPostgres
import TocsinStore

#if TOCSIN_NATS
import TocsinNATS
#endif

/// Which doorbell wakes other nodes.
package enum DoorbellAddress: Sendable, Hashable, CustomStringConvertible {
    /// None: nodes look by themselves alone.
    case off
    /// `LISTEN` and `NOTIFY` of the database.
    case database
    /// The same over a URL of its own, where the database's leads through a pooler.
    case postgres(url: Secret)
    /// NATS servers, with commas.
    case nats(urls: Secret)

    /// The text of the setting; addresses may hold passwords and are left out.
    package var description: String {
        switch self {
        case .off: "off"
        case .database: "postgres"
        case .postgres: "postgres://…"
        case .nats: "nats://…"
        }
    }

    static func parsed(_ text: String) -> Result<DoorbellAddress, SettingProblem> {
        switch text {
        case "off": return .success(.off)
        case "postgres": return .success(.database)
        default: break
        }
        if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            return .success(.postgres(url: Secret(text)))
        }
        if text.hasPrefix("nats://") || text.hasPrefix("tls://") {
            #if TOCSIN_NATS
            return .success(.nats(urls: Secret(text)))
            #else
            return .failure("this program was built without NATS: install libnats-dev and build it again")
            #endif
        }
        return .failure("write postgres, off, postgres://HOST/DATABASE or nats://HOST:PORT")
    }

    /// The doorbell at this address; nil for none.
    func connection(_ settings: Settings, instance: String) throws(StartError) -> (any Doorbell)? {
        switch self {
        case .off: return nil
        case .database: return DataAccess(settings).database.doorbell(instance: instance)
        case .postgres(let url): return PostgresDatabase(url: url.contents).doorbell(instance: instance)
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
}
