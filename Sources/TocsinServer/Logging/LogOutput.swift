import Glibc
import TocsinStore

/// Where the log's lines go: a bounded buffer, which a thread of its own empties.
///
/// So nobody who writes a line waits for whoever reads the log.
///
/// What finds the buffer full is dropped and counted; a line says how many were, once the reader
/// has taken what came before.
package final class LogOutput: Sendable {
    /// What all threads share, each only while it has the condition's lock.
    private final class Shared: @unchecked Sendable {
        let condition = Condition()
        var waiting: [UInt8] = []
        /// Bytes that the thread is writing.
        var underWay = 0
        var dropped = 0
        /// The last write failed: what was dropped is told with the next line, not
        /// by trying again for ever.
        var hasFailed = false
        var isClosed = false
        /// The thread waits for a line.
        var isResting = false

        var isIdle: Bool { waiting.isEmpty && (dropped == 0 || hasFailed) }
    }

    private let shared = Shared()
    private let descriptor: Int32
    private let maximumBytes: Int
    private let isThreaded: Bool

    /// Writes to a descriptor, which stays the caller's.
    ///
    /// - Parameters:
    ///   - maximumBytes: how many bytes of lines may wait.
    ///   - lossLine: the line that tells how many were dropped.
    package init(
        descriptor: Int32,
        maximumBytes: Int = 1 << 20,
        lossLine: @escaping @Sendable (_ dropped: Int) -> [UInt8]
    ) {
        self.descriptor = descriptor
        self.maximumBytes = maximumBytes
        let shared = shared
        isThreaded = startThread("log") { Self.run(shared, descriptor, lossLine) }
    }

    deinit {
        shared.condition.withLock {
            shared.isClosed = true
            shared.condition.broadcast()
        }
    }

    /// Takes a whole line; never waits for the reader.
    package func write(_ line: [UInt8]) {
        // A system without another thread: as before there was one.
        guard isThreaded else {
            _ = Self.write(line, descriptor)
            return
        }
        shared.condition.withLock {
            // Once a line is lost, so are those behind it until the reader goes on:
            // what is there is in order.
            let isKept =
                (shared.dropped == 0 || shared.hasFailed)
                && shared.waiting.count + shared.underWay + line.count <= maximumBytes
            if isKept { shared.waiting += line } else { shared.dropped += 1 }
            if shared.isResting { shared.condition.broadcast() }
        }
    }

    /// Waits until all is written, at most for this time.
    package func flush(within time: Duration) {
        guard isThreaded else { return }
        let end = ContinuousClock.now + time
        shared.condition.withLock {
            while !shared.isIdle || shared.underWay > 0, ContinuousClock.now < end {
                shared.condition.wait(end - ContinuousClock.now)
            }
        }
    }

    /// After a write lines gather for a moment: to wake the thread for each one costs 10
    /// µs, more than writing it.
    private static let gatheringMicroseconds: UInt32 = 5000

    private static func run(_ shared: Shared, _ descriptor: Int32, _ lossLine: (Int) -> [UInt8]) {
        while let piece = next(shared, lossLine) {
            let isWritten = write(piece, descriptor)
            shared.condition.withLock {
                shared.underWay = 0
                shared.hasFailed = !isWritten
                if !isWritten { shared.dropped += piece.count { $0 == UInt8(ascii: "\n") } }
                shared.condition.broadcast()
            }
            usleep(gatheringMicroseconds)
        }
    }

    /// All that waits, and what is to be said of what does not; nil at the end.
    private static func next(_ shared: Shared, _ lossLine: (Int) -> [UInt8]) -> [UInt8]? {
        shared.condition.withLock {
            while shared.isIdle {
                if shared.isClosed { return nil }
                shared.isResting = true
                shared.condition.wait()
            }
            shared.isResting = false
            var piece = shared.waiting
            shared.waiting = []
            if shared.dropped > 0 {
                let line = lossLine(shared.dropped)
                // After a failure what was lost came before.
                piece = shared.hasFailed ? line + piece : piece + line
            }
            shared.dropped = 0
            shared.underWay = piece.count
            return piece
        }
    }

    /// Writes all of it, waiting for the reader; false when it cannot be written.
    private static func write(_ bytes: [UInt8], _ descriptor: Int32) -> Bool {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress?.advanced(by: written), $0.count - written)
            }
            if count > 0 {
                written += count
            } else if count < 0, errno == EAGAIN {
                // Somebody made it non-blocking, a terminal's other programs for example.
                var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wanted, 1, 1000)
            } else if count == 0 || errno != EINTR {
                return false
            }
        }
        return true
    }
}
