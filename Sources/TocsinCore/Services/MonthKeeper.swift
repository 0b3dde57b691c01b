/// Keeps the months in which messages stand, where an operator has put them there: makes those to come, and lets those go
/// whose time is over.
///
/// A month goes in two steps. First it is closed: the bounds of topics and feeds are raised past all that it holds. Its table
/// is dropped in a later round, since that, unlike a removal of rows, shows at once to readers of an earlier moment: when it
/// is dropped, all of them see bounds that tell them so.
package struct MonthKeeper: Sendable {
    private let store: any Store
    private let time: any TimeSource
    private let retention: MessageRetention
    private let batch: Int
    private static let roundSeconds = 3600.0
    /// Moving so many rows for each of a batch into a new month, while all others wait, takes less than a second.
    private static let movedByBatch = 100

    /// - Parameter batch: Topics, feeds or rows seen to at most in one transaction.
    package init(store: any Store, time: any TimeSource, retention: MessageRetention, batch: Int = 500) {
        self.store = store
        self.time = time
        self.retention = retention
        self.batch = batch
    }

    /// Does all that is due now; answers how many months were dropped.
    package func runOnce() async throws(ServiceError) -> Int {
        let now = time.now()
        let bounds = retention.bounds(at: now)
        let plan = try await store.reading(for: .server) { reader throws(StoreError) in
            try reader.monthsToKeep(at: now, bounds)
        }
        guard let plan else { return 0 }
        let trouble = plan.areDue ? await make(at: now) : nil
        let dropped = try await drop(plan.closed, now)
        if dropped == plan.closed.count {
            for month in plan.over {
                guard try await close(month, bounds, now) else { break }
            }
        }
        if let trouble { throw trouble }
        return dropped
    }

    /// Answers why months could not be made, which keeps none from going.
    private func make(at now: Timestamp) async -> ServiceError? {
        let limit = batch * Self.movedByBatch
        do throws(ServiceError) {
            _ = try await store.writing { writer throws(StoreError) in
                .success(try writer.makeMonths(at: now, moving: limit))
            }
            return nil
        } catch {
            return error
        }
    }

    private func drop(_ months: [MessageMonth], _ now: Timestamp) async throws(ServiceError) -> Int {
        for (dropped, month) in months.enumerated() {
            let isDropped = try await store.writing { writer throws(StoreError) in
                .success(try writer.dropMonth(month, at: now))
            }
            guard isDropped else { return dropped }
        }
        return months.count
    }

    private func close(
        _ month: MessageMonth,
        _ bounds: PruningBounds,
        _ now: Timestamp
    ) async throws(ServiceError) -> Bool {
        let limit = batch
        var place = MonthPlace.start
        while !Task.isCancelled {
            let from = place
            let step = try await store.writing { writer throws(StoreError) in
                .success(try writer.closeMonth(month, bounds, at: now, from: from, limit: limit))
            }
            switch step {
            case .next(let next): place = next
            case .closed: return true
            case .kept: return false
            }
        }
        return false
    }

    /// Runs at start and then every hour, until the task is cancelled; what fails is told and tried again.
    package func run(
        dropped: @Sendable (Int) -> Void,
        report: @Sendable (ServiceError) -> Void
    ) async {
        await time.rounds(everySeconds: Self.roundSeconds, report: report) { () async throws(ServiceError) in
            let count = try await runOnce()
            if count > 0 { dropped(count) }
        }
    }
}
