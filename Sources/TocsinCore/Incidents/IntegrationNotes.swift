import Synchronization

/// What came in through integrations, kept in memory until a job writes it, each second: never on a
/// request's path.
package final class IntegrationNotes: Sendable {
    private struct Noted {
        var counts: [String: IntegrationCounts] = [:]
        var requests: [ReceivedRequest] = []
        var bytes = 0
    }

    private let noted = Mutex(Noted())
    /// Requests of one integration that are kept; 0: none.
    package let keptRequests: Int
    /// What requests that wait to be written may take; further ones are counted, not kept.
    private static let maximumBytes = 16 << 20
    private static let maximumRequests = 2_000

    /// Nothing has come in.
    package init(keptRequests: Int) { self.keptRequests = keptRequests }

    /// Notes what came in, and the request where it is to be kept; never waits.
    package func note(_ counts: IntegrationCounts, _ request: ReceivedRequest?) {
        noted.withLock { noted in
            noted.counts[counts.integrationID, default: IntegrationCounts(integrationID: counts.integrationID)]
                .add(counts)
            guard keptRequests > 0, let request else { return }
            let bytes = request.body?.utf8.count ?? 0
            guard noted.requests.count < Self.maximumRequests, noted.bytes + bytes <= Self.maximumBytes else { return }
            noted.requests.append(request)
            noted.bytes += bytes
        }
    }

    /// Writes what was noted since the last time, once a second.
    package func task(_ store: any Store) -> PeriodicTask {
        PeriodicTask(.integrationNotes, everySeconds: 1, failure: "what came in by integrations could not be written") {
            () async throws(ServiceError) in
            try await self.write(to: store)
            return 0
        }
    }

    /// Writes all that is noted; what cannot be written is forgotten.
    package func write(to store: any Store) async throws(ServiceError) {
        let found = noted.withLock { noted in
            defer { noted = Noted() }
            return noted
        }
        guard !found.counts.isEmpty else { return }
        let requests = kept(found.requests)
        let keptRequests = keptRequests
        try await store.writing { writer throws(StoreError) -> Result<Void, ServiceError> in
            // In one order on all nodes.
            for (_, counts) in found.counts.sorted(by: { $0.key < $1.key }) { try writer.add(counts) }
            for (integration, requests) in requests.sorted(by: { $0.key < $1.key }) {
                for request in requests { try writer.insert(request) }
                try writer.removeReceivedRequests(of: integration, keeping: keptRequests)
            }
            return .success(())
        }
    }

    /// The latest of each integration.
    private func kept(_ requests: [ReceivedRequest]) -> [String: [ReceivedRequest]] {
        Dictionary(grouping: requests, by: \.integrationID).mapValues { Array($0.suffix(keptRequests)) }
    }
}

/// Removes requests of integrations that are older than a day.
package struct ReceivedRequestReaper: Sendable {
    private let store: any Store
    private let time: any TimeSource

    /// A reaper of a store's requests.
    package init(store: any Store, time: any TimeSource) { (self.store, self.time) = (store, time) }

    /// Removes some rows every ten minutes.
    package var task: PeriodicTask {
        PeriodicTask(
            .receivedRequests,
            everySeconds: 600,
            failure: "old requests of integrations could not be removed"
        ) { () async throws(ServiceError) in
            let end = time.now().adding(seconds: -ReceivedRequest.keptSeconds)
            return try await store.writing { writer throws(StoreError) in
                .success(try writer.removeReceivedRequests(before: end, limit: 500))
            }
        }
    }
}
