import Logging
import TocsinCore
import TocsinStore

/// What is done with the data before it is served: nothing of a half import, the schema's
/// indexes, no leases of the dead.
///
/// A database that other machines run may be away while this starts; then the server listens, says
/// so in `/readyz`, and goes on trying.
struct Preparation: Sendable {
    let store: SQLStore
    let models: [ModelType]
    let time: any TimeSource
    let logger: Logger
    let progress: StartProgress

    private static let pauseSeconds = 1.0

    /// Prepares the data; false when the database is away and must be waited for by `run`.
    ///
    /// Closes the store when it throws.
    func begin() async throws(StartError) -> Bool {
        do {
            try await perform()
            return true
        } catch .unavailable(let reason, let detail) where store.isShared {
            logger.warning(
                "the database is away; waiting for it",
                metadata: ["event": "database_awaited", "reason": "\(reason) (\(detail))"]
            )
            return false
        } catch {
            await store.close()
            throw StartError(error.description)
        }
    }

    /// Goes on trying until the data is prepared, or this is cancelled.
    func run() async {
        while !Task.isCancelled {
            try? await time.sleep(until: time.now().adding(seconds: Self.pauseSeconds))
            do {
                try await perform()
                return logger.notice("the database is here", metadata: ["event": "database_here"])
            } catch .unavailable(let reason, _) {
                logger.debug(
                    "the database is away",
                    metadata: ["event": "database_still_away", "reason": "\(reason)"]
                )
            } catch {
                logger.error(
                    "the database cannot be prepared",
                    metadata: ["event": "database_not_prepared", "reason": "\(error)"]
                )
            }
        }
    }

    private func perform() async throws(StoreError) {
        // A write opens a database that was away; a read would only say that it is.
        let (models, isShared, progress) = (models, store.isShared, progress)
        try await store.write { writer throws(StoreError) in
            _ = try writer.prepareIndexes(of: models) { done, count in
                progress.enter("making index \(done + 1) of \(count)", percent: 100 * done / count)
            }
            // Where other servers may run, their leases hold until they have run out.
            if !isShared { try writer.dropLeases() }
        }
        guard let found = try await store.unfinishedImport() else { return }
        throw .mismatch(
            reason: "The database holds dump \(found.dump) only in part (chunk \(found.chunk)). Go on with "
                + "`tocsin import --resume`."
        )
    }
}
