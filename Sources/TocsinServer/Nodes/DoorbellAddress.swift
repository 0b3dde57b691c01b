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
}
