public import FoundationEssentials
import Synchronization

/// What becomes of the connection of a client's feeds.
public enum ConnectionState: Sendable {
    /// Nothing is followed.
    case idle
    /// A connection is being opened.
    case connecting
    /// Feeds are served.
    case live(since: Date)
    /// The connection is lost or could not be opened; another attempt follows.
    case waiting(until: Date, ClientError)
    /// The application has paused it.
    case paused
    /// There are no credentials that the server accepts.
    case signedOut(ClientError)
}

/// The states of a client's connection: what it is now, then each change.
///
/// Who reads slowly misses the oldest changes, never the newest.
public struct ConnectionStates: AsyncSequence, Sendable {
    /// What comes.
    public typealias Element = ConnectionState
    /// It does not fail.
    public typealias Failure = Never

    private struct Watchers {
        var current = ConnectionState.idle
        var last = 0
        var streams: [Int: AsyncStream<ConnectionState>.Continuation] = [:]
    }

    private final class Board: Sendable {
        let watchers = Mutex(Watchers())
    }

    private static let mostKept = 64
    private let board = Board()

    init() {}

    /// Reads the states from now on.
    public func makeAsyncIterator() -> Iterator {
        let (states, stream) = AsyncStream.makeStream(
            of: ConnectionState.self,
            bufferingPolicy: .bufferingNewest(Self.mostKept)
        )
        let board = board
        board.watchers.withLock { watchers in
            watchers.last += 1
            let number = watchers.last
            watchers.streams[number] = stream
            stream.onTermination = { _ in board.watchers.withLock { $0.streams[number] = nil } }
            stream.yield(watchers.current)
        }
        return Iterator(states: states.makeAsyncIterator())
    }

    /// Reads the states; not for several tasks at once.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var states: AsyncStream<ConnectionState>.Iterator

        /// The next state; `nil` when the task was cancelled.
        public mutating func next() async -> ConnectionState? { await states.next(isolation: #isolation) }
    }

    func tell(_ change: SocketMachine.Change, wallClock: Duration) {
        let state: ConnectionState =
            switch change {
            case .idle: .idle
            case .connecting: .connecting
            case .live: .live(since: Self.date(wallClock))
            case .paused: .paused
            case .waiting(let pause, let error): .waiting(until: Self.date(wallClock + pause), error)
            case .signedOut(let error): .signedOut(error)
            }
        board.watchers.withLock { watchers in
            watchers.current = state
            for stream in watchers.streams.values { stream.yield(state) }
        }
    }

    private static func date(_ moment: Duration) -> Date {
        Date(timeIntervalSince1970: Double(moment.milliseconds) / 1000)
    }
}
