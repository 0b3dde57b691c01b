import CNATS
import Synchronization
import TocsinCore

/// The library's connection and how it is.
final class NATSLine: Sendable {
    private struct Shared {
        /// The pointer as a number: any thread may use what it points to, under the lock.
        var connection: UInt?
        var state = DoorbellState(carrier: "nats", trouble: "not connected yet")
    }

    private let shared = Mutex(Shared())

    var state: DoorbellState { shared.withLock { $0.state } }

    func open(_ connection: OpaquePointer) { shared.withLock { $0.connection = UInt(bitPattern: connection) } }

    /// Ends the connection; nobody uses it any more when this returns.
    func close() {
        let connection = shared.withLock { shared in
            defer { shared.connection = nil }
            return shared.connection
        }
        natsConnection_Destroy(connection.flatMap { OpaquePointer(bitPattern: $0) })
    }

    /// Publishes unless there is no connection; waits for nobody, as the library's buffer takes it.
    func publish(_ text: String, on subject: String) {
        shared.withLock { shared in
            guard let connection = shared.connection.flatMap({ OpaquePointer(bitPattern: $0) }) else { return }
            if natsConnection_PublishString(connection, subject, text) == NATS_OK { shared.state.sent += 1 }
        }
    }

    func note(trouble: String?) { shared.withLock { $0.state.trouble = trouble } }

    func noteHeard() { shared.withLock { $0.state.heard += 1 } }
}
