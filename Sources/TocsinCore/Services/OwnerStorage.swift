import Synchronization

/// How much each owner has stored, so that no owner fills the disk of all.
///
/// Storage is measured and not counted: nothing of it is stored, and code that removes rows need
/// not know of it. `run` measures an owner who begins to write, page after page in the order of an
/// index, and adds what this node writes since. Near the bound it measures again. What other nodes
/// write, and what was removed, counts with the next measure. So an owner passes the bound by no
/// more than is written during one measure.
package final class OwnerStorage: Sendable {
    private struct Account {
        /// Nil before the first measure.
        var measured: Int64?
        /// What was written since the last measure began.
        var written: Int64 = 0
        /// Whether a measure is asked for or under way.
        var isAsked = false
        /// No measure begins before.
        var nextAt = Timestamp(milliseconds: 0)

        var bytes: Int64 { (measured ?? 0) + written }
    }

    /// 0: owners may store any amount.
    private let bound: Atomic<Int64>
    private let time: any TimeSource
    private let accounts = Mutex<[String: Account]>([:])
    private let asked: AsyncStream<String>
    private let asking: AsyncStream<String>.Continuation
    /// Owners that are remembered at once.
    private static let maximumAccounts = 100_000
    /// Rows read at once; bodies are read with them.
    private static let rowsAtOnce = 64
    private static let pauseSeconds = 60.0
    /// A measure takes at most this part of a reader's time.
    private static let share = 20.0

    /// Storage with a bound for each owner; 0 means none.
    package init(bytes: Int, time: any TimeSource) {
        bound = Atomic(Int64(bytes))
        self.time = time
        (asked, asking) = AsyncStream.makeStream()
    }

    /// Sets the bound from now on; 0 means none.
    package func setBound(bytes: Int) { bound.store(Int64(bytes), ordering: .relaxed) }

    /// Refuses more to an owner who has stored as much as one may.
    func take(_ bytes: Int, for owner: String) throws(ServiceError) {
        let bound = bound.load(ordering: .relaxed)
        guard bound > 0 else { return }
        let now = time.now()
        let isFull = accounts.withLock { accounts in
            if accounts.count >= Self.maximumAccounts, accounts[owner] == nil {
                accounts = accounts.filter { $0.value.isAsked }
            }
            var account = accounts[owner] ?? Account()
            let isFull = account.measured != nil && account.bytes >= bound
            if !isFull { account.written += Int64(bytes) }
            let isNear = account.measured == nil || account.bytes >= bound / 10 * 9
            if isNear, !account.isAsked, account.nextAt <= now {
                account.isAsked = true
                asking.yield(owner)
            }
            accounts[owner] = account
            return isFull
        }
        guard isFull else { return }
        throw .limit(
            "You have stored \(bound) bytes, as much as one owner may here. Delete what is not needed, and try again a "
                + "minute later (what is deleted counts until it is removed for good); or ask the operator for a shorter "
                + "retention, or more room."
        )
    }

    /// Measures owners as they need it, until the task is cancelled; what fails
    /// is told and tried again.
    package func run(
        _ store: any Store,
        tables: [ModelTable],
        report: @Sendable (ServiceError) -> Void
    ) async {
        for await owner in asked {
            do throws(ServiceError) {
                try await measure(owner, store, tables)
            } catch {
                report(error)
            }
        }
    }

    private func measure(_ owner: String, _ store: any Store, _ tables: [ModelTable]) async throws(ServiceError) {
        let begun = time.now()
        let writtenBefore = accounts.withLock { $0[owner]?.written ?? 0 }
        var measured: Int64?
        defer {
            let end = time.now()
            let seconds = Double(max(0, end.milliseconds - begun.milliseconds)) / 1000
            accounts.withLock { accounts in
                guard var account = accounts[owner] else { return }
                if let measured {
                    account.measured = measured
                    account.written -= writtenBefore
                }
                account.isAsked = false
                account.nextAt = end.adding(seconds: max(Self.pauseSeconds, seconds * Self.share))
                accounts[owner] = account
            }
        }
        measured = try await storedBytes(of: owner, store, tables)
    }

    /// Adds up to the bound; more makes no difference.
    private func storedBytes(
        of owner: String,
        _ store: any Store,
        _ tables: [ModelTable]
    ) async throws(ServiceError) -> Int64 {
        var total: Int64 = 0
        for table in tables {
            var next: StorageCursor? = StorageCursor(table)
            while let from = next, total < bound.load(ordering: .relaxed) {
                let page = try await store.reading(for: .owner(owner)) { reader throws(StoreError) in
                    try reader.storedBytes(of: owner, from: from, limit: Self.rowsAtOnce)
                }
                total += page.bytes
                next = page.next
            }
        }
        return total
    }
}

extension ServiceEnvironment {
    /// Refuses what the caller would store beyond what one owner may have.
    ///
    /// A model whose rules do not say whose its records are counts for nobody.
    /// In a topic that is shared its owner has the message.
    func takeStorage(
        for input: RecordInput,
        of model: ModelType,
        by caller: Identity,
        sharedBy sharer: String? = nil
    ) throws(ServiceError) {
        guard let storage, let owner = sharer ?? model.feedOwner(of: caller) else { return }
        var bytes = ModelTable.rowBytes
        for index in 0..<input.count {
            switch input.value(at: index) {
            case .text(let text), .json(let text): bytes += text.utf8.count
            case .null, .bool, .int, .double: continue
            }
        }
        do throws(ServiceError) {
            try storage.take(bytes, for: owner)
        } catch {
            note(refusedBy: .storage)
            throw error
        }
    }
}
