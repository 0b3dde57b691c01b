import Glibc
import Metrics
import NIOCore
import NIOPosix
import Synchronization
import Testing
import TocsinHTTP

@Suite("Pulses of event loops", .timeLimit(.minutes(5)))
struct LoopPulseTests {
    private static func until(_ isSo: () -> Bool) async throws {
        while !isSo() { try await Task.sleep(for: .milliseconds(5)) }
    }

    private final class Hold: Sendable {
        let isOver = Atomic(false)
    }

    @Test("a loop that stands still does not beat, and its lag grows until it goes on")
    func stall() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.any()
        let (pulse, lag, hold) = (LoopPulse(loop), LoopLag(), Hold())
        lag.add([pulse], as: "test")
        func seconds() -> Double {
            let samples = lag.families.flatMap(\.samples)
            #expect(samples.map(\.labels) == [#"loop="test-0""#])
            guard case .number(let seconds)? = samples.first?.value else { return 0 }
            return seconds
        }
        try await Self.until { pulse.beats >= 2 }
        loop.execute {
            while !hold.isOver.load(ordering: .relaxed) { usleep(1000) }
        }
        try await Self.until { seconds() > 0.3 }
        let beats = pulse.beats
        try await Self.until { seconds() > 0.6 }
        #expect(pulse.beats == beats)
        hold.isOver.store(true, ordering: .relaxed)
        try await Self.until { pulse.beats > beats }
        try await group.shutdownGracefully()
    }
}
