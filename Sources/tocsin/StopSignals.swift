import Dispatch
import Foundation

/// SIGTERM and SIGINT: the first is told to whoever waits, the second ends the process.
final class StopSignals: Sendable {
    private let signals: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        signals = stream
        sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            let seen = SeenSignal()
            source.setEventHandler {
                if seen.isSecond() { exit(1) }
                continuation.yield()
            }
            source.resume()
            return source
        }
        signal(SIGPIPE, SIG_IGN)
    }

    /// Returns at the first signal.
    func first() async {
        for await _ in signals { return }
    }

    deinit {
        for source in sources { source.cancel() }
    }
}
