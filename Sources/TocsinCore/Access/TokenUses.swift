import Encodings
import Synchronization

/// When and from which network tokens and API keys were last used, kept in memory until a job
/// writes it: never on a request's path, and never an address.
///
/// A token is noted when it is verified, which happens every few seconds while it is used.
package final class TokenUses: Sendable {
    /// The last use of one token or API key.
    package struct Use: Sendable, Hashable {
        /// Which token or key.
        package var id: TokenID
        /// Whether it is an API key.
        package var isKey: Bool
        /// The minute of the use.
        package var at: Timestamp
        /// The network: 24 bits of an IPv4 address, 48 of an IPv6 one; nil where it is not known.
        package var network: String?

        /// A use of these parts.
        package init(id: TokenID, isKey: Bool, at moment: Timestamp, network: String?) {
            (self.id, self.isKey, at, self.network) = (id, isKey, moment, network)
        }
    }

    private struct Noted {
        var isKey: Bool
        var at: Timestamp
        var address: String?
    }

    private let noted = Mutex<[TokenID: Noted]>([:])
    /// Tokens that wait to be written; what is used beyond is noted again later.
    private static let maximumTokens = 10_000
    /// Rows of one write.
    package static let rowsOfWrite = 500

    /// Nothing is noted yet.
    package init() {}

    /// Notes that the caller's token was used; never waits.
    package func note(_ caller: Identity, from address: String?, at moment: Timestamp) {
        guard let id = caller.tokenID else { return }
        noted.withLock { noted in
            guard noted.count < Self.maximumTokens || noted[id] != nil else { return }
            noted[id] = Noted(isKey: caller.provider == .apiKey, at: moment, address: address)
        }
    }

    /// Writes what was noted since the last time.
    package func task(_ store: any Store) -> PeriodicTask {
        PeriodicTask(.tokenUses, everySeconds: 60, failure: "when tokens were last used could not be written") {
            () async throws(ServiceError) in
            try await self.write(to: store)
            return 0
        }
    }

    /// Writes all that is noted, some rows at a time; what cannot be written is forgotten.
    package func write(to store: any Store) async throws(ServiceError) {
        let uses = noted.withLock { noted in
            defer { noted = [:] }
            return noted.map { Self.use($0.key, $0.value) }
        }
        var rest = uses.sorted { $0.id.text < $1.id.text }[...]
        while !rest.isEmpty {
            let rows = Array(rest.prefix(Self.rowsOfWrite))
            try await store.writing { writer throws(StoreError) -> Result<Void, ServiceError> in
                try writer.note(rows)
                return .success(())
            }
            rest = rest.dropFirst(rows.count)
        }
    }

    private static func use(_ id: TokenID, _ noted: Noted) -> Use {
        let minute = noted.at.milliseconds - noted.at.milliseconds % 60_000
        let network = noted.address.flatMap(IPAddress.init).map { "\($0.surroundings)" }
        return Use(id: id, isKey: noted.isKey, at: Timestamp(milliseconds: minute), network: network)
    }
}
