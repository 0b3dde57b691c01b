import Synchronization

/// Documents that clients have sent once with their hash and may name by it from then on
/// (automatic persisted queries).
///
/// It is told only of documents that parsed and validated. It is bounded by entries and bytes, and
/// so is what one owner put there: whoever floods it displaces documents of its own first.
public final class PersistedQueries: Sendable {
    private struct Stored {
        let document: DocumentText
        let owner: String
    }

    private struct State {
        var documents: LeastRecentlyUsed<DocumentDigest, Stored>
        /// What each owner put there, in the order in which it was used.
        var shares: [String: LeastRecentlyUsed<DocumentDigest, Void>] = [:]

        mutating func use(_ digest: DocumentDigest) -> DocumentText? {
            guard let stored = documents.use(digest) else { return nil }
            _ = shares[stored.owner]?.use(digest)
            return stored.document
        }
    }

    private let shareEntries: Int
    private let shareBytes: Int
    private let state: Mutex<State>
    /// How many documents are held, to be read without the lock.
    private let held = Atomic(0)

    /// At most so many documents of together so many bytes, and for each owner one
    /// of so many parts of both.
    public init(maximumEntries: Int = 1000, maximumBytes: Int = 8_000_000, ownerParts: Int = 4) {
        shareEntries = max(1, maximumEntries / max(1, ownerParts))
        shareBytes = maximumBytes / max(1, ownerParts)
        state = Mutex(State(documents: LeastRecentlyUsed(maximumEntries: maximumEntries, maximumBytes: maximumBytes)))
    }

    /// How many documents are held.
    public var count: Int { held.load(ordering: .relaxed) }

    /// The document of this hash, if it is held.
    public func document(_ digest: DocumentDigest) -> DocumentText? {
        state.withLock { $0.use(digest) }
    }

    /// Holds a document from now on; the first owner keeps it.
    ///
    /// A document larger than an owner's share is not held.
    public func store(_ document: DocumentText, digest: DocumentDigest, owner: String) {
        // What a dictionary's entry, the links and the keys take, roughly.
        let bytes = document.byteCount + 300
        guard bytes <= shareBytes else { return }
        state.withLock { state in
            guard state.use(digest) == nil else { return }
            let share = LeastRecentlyUsed<DocumentDigest, Void>(maximumEntries: shareEntries, maximumBytes: shareBytes)
            for gone in state.shares[owner, default: share].insert((), for: digest, bytes: bytes) {
                state.documents.remove(gone.key)
            }
            let stored = Stored(document: document, owner: owner)
            for gone in state.documents.insert(stored, for: digest, bytes: bytes) {
                state.shares[gone.value.owner]?.remove(gone.key)
                if state.shares[gone.value.owner]?.isEmpty == true { state.shares[gone.value.owner] = nil }
            }
            held.store(state.documents.count, ordering: .relaxed)
        }
    }
}
