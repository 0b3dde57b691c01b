import NIOCore
import Synchronization

/// The open connections, counted and reachable for the stop.
final class ConnectionRegistry: Sendable {
    /// What may happen to one more connection.
    enum Admission {
        /// It is served.
        case welcome
        /// There are too many, or the server stops: it is told so.
        case refused
        /// There are far too many: it is closed without a word.
        case dropped
    }

    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var lastNumber = 0
        var isStopping = false
    }

    private let state = Mutex(State())
    private let limit: Int
    private let refusalsAtOnce = 64

    init(limit: Int) { self.limit = limit }

    /// Whether no more requests should come.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// How many connections are open.
    var count: Int { state.withLock { $0.channels.count } }

    /// The open connections.
    var channels: [any Channel] { state.withLock { Array($0.channels.values) } }

    /// Takes the connection in, with a number that no other has.
    func admit(_ channel: any Channel) -> (admission: Admission, number: Int) {
        let outcome = state.withLock { state -> (Admission, Int) in
            state.lastNumber += 1
            let count = state.channels.count
            guard count < limit + refusalsAtOnce else { return (.dropped, state.lastNumber) }
            state.channels[ObjectIdentifier(channel)] = channel
            let isWelcome = count < limit && !state.isStopping
            return (isWelcome ? .welcome : .refused, state.lastNumber)
        }
        if outcome.0 != .dropped {
            channel.closeFuture.whenComplete { _ in self.forget(channel) }
        }
        return outcome
    }

    /// Turns new connections away from now on.
    ///
    /// - Returns: the connections that are open.
    func stop() -> [any Channel] {
        state.withLock { state in
            state.isStopping = true
            return Array(state.channels.values)
        }
    }

    private func forget(_ channel: any Channel) {
        state.withLock { $0.channels[ObjectIdentifier(channel)] = nil }
    }
}

/// Tells the handlers of a connection that somebody, perhaps theirs, has lost access.
struct AccessEnds: Sendable {}

/// Tells the handlers of a connection that the server stops.
struct ServerStops: Sendable {}
