import Dispatch
import Glibc
import Synchronization

/// SIGTERM and SIGINT: the first is told to whoever waits, the second ends the process.
final class StopSignals {
    private final class Seen: Sendable {
        let count = Atomic<Int>(0)
    }

    /// An element for the first signal.
    let signals: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let seen = Seen()
        signals = stream
        sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                if seen.count.add(1, ordering: .relaxed).oldValue > 0 { exit(1) }
                continuation.yield()
            }
            source.resume()
            return source
        }
        signal(SIGPIPE, SIG_IGN)
    }

    deinit {
        for source in sources { source.cancel() }
    }

    /// Returns at the first signal.
    func first() async {
        for await _ in signals { return }
    }
}

/// SIGHUP, which ends nothing from here on.
final class HangupSignals {
    /// An element for each signal; several that come at once are one.
    let signals: AsyncStream<Void>
    private let source: any DispatchSourceSignal

    init() {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        signals = stream
        Self.ignore()
        source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
        source.setEventHandler { continuation.yield() }
        source.resume()
    }

    /// Has SIGHUP end nothing, before anybody listens to it.
    static func ignore() { signal(SIGHUP, SIG_IGN) }

    /// Tells of no more signals, which still end nothing.
    func stop() { source.cancel() }
}

/// SIGUSR1 and SIGUSR2, which change how much is logged.
final class LevelSignals {
    /// What a signal asks for.
    enum Step: Sendable {
        /// One step more (SIGUSR1).
        case more
        /// As the settings say (SIGUSR2).
        case usual
    }

    /// An element for each signal.
    let signals: AsyncStream<Step>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (stream, continuation) = AsyncStream<Step>.makeStream(bufferingPolicy: .bufferingNewest(16))
        signals = stream
        sources = [(SIGUSR1, Step.more), (SIGUSR2, .usual)].map { number, step in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(step) }
            source.resume()
            return source
        }
    }

    /// Tells of no more signals, which still end nothing.
    func stop() {
        for source in sources { source.cancel() }
    }
}
