import CPostgres
import Synchronization
import TocsinStore

/// A request to the server to end a connection's running statement, sent by a thread of its own.
///
/// libpq sends the order over a connection of its own and waits without a limit for the server to
/// end it. A network that swallows everything would hold the caller for ever.
///
/// `@unchecked`: libpq's object is touched by the one thread that sends it, and freed
/// when nobody has it any more.
final class CancelOrder: @unchecked Sendable {
    private let cancel: OpaquePointer
    private let done = Atomic(false)
    /// Whether the server has been told, or never will be: what is sent to it from now
    /// on is not ended by this.
    var isDone: Bool { done.load(ordering: .acquiring) }
    private static let underWay = Atomic(0)
    /// Orders under way at most; beyond, the statement is given up without one.
    private static let mostUnderWay = 16

    init(_ cancel: OpaquePointer) {
        self.cancel = cancel
    }

    deinit { PQfreeCancel(cancel) }

    func send() {
        guard Self.underWay.add(1, ordering: .relaxed).newValue <= Self.mostUnderWay else {
            Self.underWay.subtract(1, ordering: .relaxed)
            done.store(true, ordering: .releasing)
            return
        }
        let isStarted = startThread("store-cancel") { [self] in
            var words = [CChar](repeating: 0, count: 256)
            _ = PQcancel(cancel, &words, Int32(words.count))
            Self.underWay.subtract(1, ordering: .relaxed)
            done.store(true, ordering: .releasing)
        }
        if !isStarted {
            Self.underWay.subtract(1, ordering: .relaxed)
            done.store(true, ordering: .releasing)
        }
    }
}
