import TocsinCore

/// Reads of clients that wait for the readers: owners take turns, each read of one
/// owner after its earlier ones.
///
/// One owner has at most `readersPerOwner` readers at a time and `waitingPerOwner` waiting reads.
/// So nobody waits longer than one turn for what another owner asks.
///
/// `@unchecked`: everything that changes is touched only while `condition` is locked.
final class ReadQueue: @unchecked Sendable {
    /// The reads of one owner.
    private final class Line {
        let owner: String
        var waiting: [ReadIntent] = []
        var running = 0
        /// Whether it stands in `turns`.
        var hasTurn = false

        init(owner: String) {
            self.owner = owner
        }
    }

    private let readersPerOwner: Int
    private let waitingPerOwner: Int
    private let condition = Condition()
    private var lines: [String: Line] = [:]
    /// Owners with a read that may begin now, in the order of their turns.
    private var turns: [Line] = []
    private var waitingCount = 0
    /// Readers that wait for a read.
    private var idleReaders = 0
    private var isClosed = false

    init(readersPerOwner: Int, waitingPerOwner: Int) {
        (self.readersPerOwner, self.waitingPerOwner) = (readersPerOwner, waitingPerOwner)
    }

    /// How many reads wait.
    var count: Int { condition.withLock { waitingCount } }

    func push(_ intent: ReadIntent, owner: String) -> Admission {
        let (admission, wakesReader) = condition.withLock { () -> (Admission, Bool) in
            if isClosed { return (.closed, false) }
            let line = lines[owner] ?? Line(owner: owner)
            guard line.waiting.count < waitingPerOwner else { return (.full, false) }
            lines[owner] = line
            line.waiting.append(intent)
            waitingCount += 1
            return (.accepted, giveTurn(to: line) && idleReaders > 0)
        }
        // Not while locked: the reader would wake only to wait for the lock.
        if wakesReader { condition.signal() }
        return admission
    }

    /// Takes a read out that has not begun; false when it has.
    func cancel(_ intent: ReadIntent, owner: String) -> Bool {
        condition.withLock {
            guard let line = lines[owner], let index = line.waiting.firstIndex(where: { $0 === intent }) else {
                return false
            }
            line.waiting.remove(at: index)
            waitingCount -= 1
            // Readers that wait for the end of the queue may be at it now.
            if isClosed, waitingCount == 0 { condition.broadcast() }
            forget(line)
            return true
        }
    }

    /// Notes that a read of this owner has ended, if one is named, and waits for the next; nil when
    /// the queue is closed and empty.
    func take(after owner: String?) -> ReadIntent? {
        condition.withLock {
            if let owner, let line = lines[owner] {
                line.running -= 1
                giveTurn(to: line)
                forget(line)
            }
            while true {
                if let intent = next() {
                    if !turns.isEmpty, idleReaders > 0 { condition.signal() }
                    return intent
                }
                if isClosed, waitingCount == 0 { return nil }
                idleReaders += 1
                condition.wait()
                idleReaders -= 1
            }
        }
    }

    /// Takes no more reads; what waits is still handed out.
    func close() {
        condition.withLock {
            isClosed = true
            condition.broadcast()
        }
    }

    private func next() -> ReadIntent? {
        while !turns.isEmpty {
            let line = turns.removeFirst()
            line.hasTurn = false
            guard !line.waiting.isEmpty else { continue }
            let intent = line.waiting.removeFirst()
            waitingCount -= 1
            line.running += 1
            giveTurn(to: line)
            // Readers that wait for the end of the queue may be at it now.
            if isClosed, waitingCount == 0 { condition.broadcast() }
            return intent
        }
        return nil
    }

    /// Lets a read of this owner begin, unless its turn has been given or it has as many readers as
    /// one may; true when it was given now.
    @discardableResult
    private func giveTurn(to line: Line) -> Bool {
        guard !line.hasTurn, !line.waiting.isEmpty, line.running < readersPerOwner else { return false }
        line.hasTurn = true
        turns.append(line)
        return true
    }

    private func forget(_ line: Line) {
        if line.running == 0, line.waiting.isEmpty { lines[line.owner] = nil }
    }
}
