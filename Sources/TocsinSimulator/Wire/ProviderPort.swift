import NIOCore
import Synchronization

/// One provider's port: it may be closed for a time, and opens again at the same number.
final class ProviderPort: Sendable {
    private struct State {
        var channel: (any Channel)?
        /// Which of several closings is in force, so that an old one's end does not open the port.
        var closing = 0
        var isStopped = false
    }

    private let state = Mutex(State())
    private let number = Mutex(0)
    private let loop: any EventLoop
    private let bind: @Sendable (Int) -> EventLoopFuture<any Channel>

    private static let retry = TimeAmount.milliseconds(100)

    init(loop: any EventLoop, bind: @escaping @Sendable (Int) -> EventLoopFuture<any Channel>) {
        self.loop = loop
        self.bind = bind
    }

    /// Opens the port for the first time, 0 being any free one, and gives its number.
    func open(_ wanted: Int, host: String) async throws(SimulatorError) -> Int {
        do {
            let channel = try await bind(wanted).get()
            let port = channel.localAddress?.port ?? 0
            number.withLock { $0 = port }
            state.withLock { $0.channel = channel }
            return port
        } catch {
            throw SimulatorError.listen(address: "\(host):\(wanted)", reason: "\(error)")
        }
    }

    /// Refuses connections, for so long or until `reopen`.
    func close(seconds: Double?) {
        let (channel, closing) = state.withLock { state -> ((any Channel)?, Int) in
            state.closing += 1
            defer { state.channel = nil }
            return (state.channel, state.closing)
        }
        channel?.close(promise: nil)
        guard let seconds else { return }
        loop.scheduleTask(in: .nanoseconds(Int64(seconds * 1e9))) { self.reopen(after: closing) }
    }

    /// Listens again, if it does not.
    func reopen() { reopen(after: state.withLock { $0.closing }) }

    private func reopen(after closing: Int) {
        let isWanted = state.withLock { $0.channel == nil && !$0.isStopped && $0.closing == closing }
        guard isWanted else { return }
        bind(number.withLock { $0 }).whenComplete { result in
            switch result {
            case .success(let channel):
                let isKept = self.state.withLock { state in
                    guard state.channel == nil, !state.isStopped, state.closing == closing else { return false }
                    state.channel = channel
                    return true
                }
                if !isKept { channel.close(promise: nil) }
            case .failure:
                // Another program has the number for a moment.
                self.loop.scheduleTask(in: Self.retry) { self.reopen(after: closing) }
            }
        }
    }

    /// Closes for good.
    func stop() async {
        let channel = state.withLock { state -> (any Channel)? in
            state.isStopped = true
            defer { state.channel = nil }
            return state.channel
        }
        // A channel that closed on its own meanwhile is as good as closed.
        _ = try? await channel?.close().get()
    }
}
