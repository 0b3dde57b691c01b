/// Removes settled deliveries whose time is over, in small batches, so that no writer waits for
/// long.
///
/// They are found by a walk through the ledger in its own order: an index of their times would cost
/// every push. Where the ledger stands in parts by time (PostgreSQL), each part goes as a whole,
/// once all of it is over; they span as long as deliveries are kept, at most thirty days. What
/// older versions wrote in place of deliveries (`deviceless_runs`) goes by its own age.
package struct DeliveryReaper: Sendable {
    private let store: any Store
    private let time: any TimeSource
    private let reloadableSeconds: Reloadable<Double>
    private var keptSeconds: Double { reloadableSeconds.value }
    private let batch: Int
    private static let longestSpanDays = 30.0
    /// A run may stand for deliveries that are so much younger than it.
    private static let longestRunSeconds = 3600.0

    /// - Parameter batch: Rows looked at, and removed at most, in one transaction.
    package init(store: any Store, time: any TimeSource, keptSeconds: Double, batch: Int = 500) {
        self.init(store: store, time: time, keptSeconds: Reloadable(keptSeconds), batch: batch)
    }

    /// The same, for a time that may change.
    package init(store: any Store, time: any TimeSource, keptSeconds: Reloadable<Double>, batch: Int = 500) {
        self.store = store
        self.time = time
        reloadableSeconds = keptSeconds
        self.batch = batch
    }

    /// Removes all that is due now; answers how many it removed one by one.
    package func runOnce() async throws(ServiceError) -> Int {
        let end = time.now().adding(seconds: -keptSeconds)
        let total = try await removeRows(settledBefore: end) + removeRuns(settledBefore: end)
        try await keepPartitions(settledBefore: end)
        return total
    }

    /// Makes parts for the time to come and drops those that are over.
    private func keepPartitions(settledBefore end: Timestamp) async throws(ServiceError) {
        let now = time.now()
        let days = Int(max(1, min(Self.longestSpanDays, keptSeconds / 86_400)))
        let plan = try await store.reading(for: .server) { reader throws(StoreError) in
            try reader.partitionsToKeep(at: now, spanDays: days, settledBefore: end)
        }
        guard plan.areDue || !plan.old.isEmpty else { return }
        _ = try await store.writing { writer throws(StoreError) in
            .success(try writer.keepPartitions(at: now, spanDays: days, dropping: plan.old))
        }
    }

    private func removeRows(settledBefore end: Timestamp) async throws(ServiceError) -> Int {
        let limit = batch
        var total = 0
        var next: DeliveryKey? = DeliveryKey.first
        while let from = next, !Task.isCancelled {
            let page = try await store.reading(for: .server) { reader throws(StoreError) in
                try reader.settledDeliveries(before: end, after: from, limit: limit)
            }
            next = page.last
            guard !page.due.isEmpty else { continue }
            total += try await store.writing { writer throws(StoreError) in
                .success(try writer.removeDeliveries(page.due, settledBefore: end))
            }
        }
        return total
    }

    private func removeRuns(settledBefore end: Timestamp) async throws(ServiceError) -> Int {
        let madeBefore = end.adding(seconds: -Self.longestRunSeconds)
        return try await store.removing(atOnce: batch) { writer, limit throws(StoreError) in
            try writer.removeRuns(madeBefore: madeBefore, limit: limit)
        }
    }

    /// Runs every six hours.
    package var task: PeriodicTask {
        PeriodicTask(
            .deliveries,
            everySeconds: 6 * 3600,
            failure: "old deliveries could not be removed"
        ) { () async throws(ServiceError) in
            try await runOnce()
        }
    }
}

/// Where a delivery stands in the ledger, which is in order of message, then device.
package struct DeliveryKey: Sendable, Hashable {
    /// The message: the first part of the ledger's order.
    package var message: MessageID
    /// The device: the second part of the ledger's order.
    package var device: DeviceID

    /// The position of one delivery, which need not exist.
    package init(message: MessageID, device: DeviceID) {
        self.message = message
        self.device = device
    }

    /// Before all deliveries.
    static let first = DeliveryKey(message: MessageID(""), device: DeviceID(""))
}
