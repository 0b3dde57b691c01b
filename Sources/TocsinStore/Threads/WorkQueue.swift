import Metrics

/// Whether a queue has taken what was to wait in it.
enum Admission { case accepted, full, closed }

/// A bounded queue from many tasks to the threads that work on it.
///
/// `@unchecked`: everything that changes is touched only while `condition` is locked.
final class WorkQueue<Element: Sendable>: @unchecked Sendable {
    private struct Waiting {
        let element: Element
        /// nil where nobody measures how long it waits.
        let since: ContinuousClock.Instant?
    }

    private let limit: Int
    private let waits: Histogram?
    private let condition = Condition()
    private var elements: [Waiting?] = []
    /// Elements before this have been taken.
    private var head = 0
    private var isClosed = false

    /// - Parameter waits: Records how long elements wait.
    init(limit: Int, waits: Histogram? = nil) {
        (self.limit, self.waits) = (limit, waits)
    }

    /// How many elements wait.
    var count: Int { condition.withLock { elements.count - head } }

    func push(_ element: Element) -> Admission {
        let new = Waiting(element: element, since: waits.map { _ in .now })
        return condition.withLock {
            if isClosed { return .closed }
            if elements.count - head >= limit { return .full }
            elements.append(new)
            condition.signal()
            return .accepted
        }
    }

    /// Waits for elements and takes up to `maximum` of them, oldest first; none when the
    /// queue is closed and empty.
    func take(upTo maximum: Int) -> [Element] {
        let taken = takeWaiting(upTo: maximum)
        if let waits, !taken.isEmpty {
            let now = ContinuousClock.now
            for waiting in taken { if let since = waiting.since { waits.record(now - since) } }
        }
        return taken.map(\.element)
    }

    private func takeWaiting(upTo maximum: Int) -> [Waiting] {
        condition.withLock {
            while elements.count == head, !isClosed { condition.wait() }
            let end = min(head + maximum, elements.count)
            var taken: [Waiting] = []
            taken.reserveCapacity(end - head)
            for index in head..<end {
                if let element = elements[index] { taken.append(element) }
                elements[index] = nil
            }
            head = end
            if head == elements.count || head > 1024 && head > elements.count / 2 {
                elements.removeFirst(head)
                head = 0
            }
            return taken
        }
    }

    /// Takes no more elements; what waits is still handed out.
    func close() {
        condition.withLock {
            isClosed = true
            condition.broadcast()
        }
    }
}

/// Lets threads wait until others have ended.
///
/// `@unchecked`: `remaining` is touched only while `condition` is locked.
final class Countdown: @unchecked Sendable {
    private let condition = Condition()
    private var remaining: Int

    init(_ count: Int) {
        remaining = count
    }

    func arrive() {
        condition.withLock {
            remaining -= 1
            condition.broadcast()
        }
    }

    /// Blocks the thread until all have arrived.
    func wait() {
        condition.withLock {
            while remaining > 0 { condition.wait() }
        }
    }
}
