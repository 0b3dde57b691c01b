/// Removes settled deliveries whose time is over, in small batches, so that no writer waits for long (ops-promises
/// section 2).
///
/// They are found by a walk through the ledger in its own order: an index of their times would cost every push.
package struct DeliveryReaper: Sendable {
    private let store: any Store
    private let time: any TimeSource
    private let keptSeconds: Double
    private let batch: Int
    private static let roundSeconds = 6.0 * 3600

    /// - Parameter batch: Rows looked at, and removed at most, in one transaction.
    package init(store: any Store, time: any TimeSource, keptSeconds: Double, batch: Int = 500) {
        self.store = store
        self.time = time
        self.keptSeconds = keptSeconds
        self.batch = batch
    }

    /// Removes all that is due now; answers how many.
    package func runOnce() async throws(ServiceError) -> Int {
        let limit = batch
        let end = time.now().adding(seconds: -keptSeconds)
        var total = 0
        var place: DeliveryPlace? = DeliveryPlace.first
        while let from = place, !Task.isCancelled {
            let page = try await store.reading { reader throws(StoreError) in
                try reader.settledDeliveries(before: end, after: from, limit: limit)
            }
            place = page.last
            guard !page.due.isEmpty else { continue }
            total += try await store.writing { writer throws(StoreError) in
                .success(try writer.removeDeliveries(page.due, settledBefore: end))
            }
        }
        return total
    }

    /// Runs at start and then every six hours, until the task is cancelled; what fails is told and tried again.
    package func run(report: @Sendable (ServiceError) -> Void) async {
        while !Task.isCancelled {
            do throws(ServiceError) {
                _ = try await runOnce()
            } catch {
                report(error)
            }
            let next = time.now().adding(seconds: Self.roundSeconds)
            guard (try? await time.sleep(until: next)) != nil else { return }
        }
    }
}

/// Where a delivery stands in the ledger, which is in order of message, then device.
package struct DeliveryPlace: Sendable, Hashable {
    package var message: MessageID
    package var device: DeviceID

    package init(message: MessageID, device: DeviceID) {
        self.message = message
        self.device = device
    }

    /// Before all deliveries.
    static let first = DeliveryPlace(message: MessageID(""), device: DeviceID(""))
}
