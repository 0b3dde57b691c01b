import NIOCore
import Synchronization

/// A channel that carries one exchange after the other, and why it ended, if it has.
struct HTTPConnection: Sendable {
    let channel: any Channel
    let ending: ConnectionEnding

    /// Sends a request; what comes too late is answered with why the connection ended.
    func send(_ exchange: PendingRequest) {
        let ending = ending
        channel.writeAndFlush(exchange).whenFailure { _ in
            exchange.answer.fail(ending.reason ?? ExchangeFailure.connectionLost)
        }
    }
}

/// Why a connection ended.
///
/// It outlives the handlers: a closed channel has none, and says of a write only that it came
/// too late.
final class ConnectionEnding: Sendable {
    private let first = Mutex<(any Error)?>(nil)

    /// The first reason that was given.
    var reason: (any Error)? { first.withLock { $0 } }

    /// Keeps a reason, unless there is one.
    func give(_ reason: any Error) {
        first.withLock { $0 = $0 ?? reason }
    }
}
