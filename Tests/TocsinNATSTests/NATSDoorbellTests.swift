import Synchronization
import Testing
import TocsinCore
import TocsinNATS

/// A doorbell that runs, and how often it heard others.
private final class Listener: Sendable {
    let doorbell: NATSDoorbell
    private let count = Atomic(0)
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ urls: String, _ name: String) throws {
        doorbell = try NATSDoorbell(urls: urls, instance: name)
        let started = Task { [self] in await doorbell.run { [weak self] in self?.count.add(1, ordering: .relaxed) } }
        task.withLock { $0 = started }
    }

    /// Rings heard, and reconnections.
    var heard: Int { count.load(ordering: .relaxed) }

    func end() async {
        let running = task.withLock { $0 }
        running?.cancel()
        await running?.value
    }
}

@Suite("Doorbell over NATS", .enabled(if: NATSServers.program != nil), .serialized)
struct NATSDoorbellTests {
    /// Rings until the other has heard something new, or a minute is over.
    private func isHeard(_ listener: Listener, ringing other: Listener) async throws -> Bool {
        let before = listener.doorbell.state.heard
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            other.doorbell.ring()
            try await Task.sleep(for: .milliseconds(20))
            if listener.doorbell.state.heard > before { return true }
        }
        return false
    }

    @Test("a ring is heard on the cluster's other servers, and not by who rang")
    func cluster() async throws {
        let servers = try NATSServers(3)
        let listeners = try servers.ports.map { try Listener("nats://127.0.0.1:\($0)", "node \($0)") }
        for listener in listeners {
            for other in listeners where other !== listener {
                #expect(try await isHeard(listener, ringing: other))
            }
        }
        let alone = listeners[0]
        let (sent, heard) = (alone.doorbell.state.sent, alone.doorbell.state.heard)
        alone.doorbell.ring()
        #expect(try await isHeard(listeners[1], ringing: listeners[2]))
        #expect(alone.doorbell.state.sent == sent + 1)
        // The other's rings are heard, the own one is not: no more than those
        // that came from elsewhere.
        #expect(alone.doorbell.state.heard - heard <= listeners[2].doorbell.state.sent)
        for listener in listeners { await listener.end() }
    }

    @Test("a server of three is lost: its nodes go on at another, and when it is back all is well")
    func loss() async throws {
        let servers = try NATSServers(3)
        let first = try Listener(servers.urls, "first")
        let second = try Listener("nats://127.0.0.1:\(servers.ports[0]),nats://127.0.0.1:\(servers.ports[1])", "second")
        #expect(try await isHeard(first, ringing: second))
        #expect(try await isHeard(second, ringing: first))
        servers.kill(0)
        #expect(try await isHeard(first, ringing: second))
        #expect(try await isHeard(second, ringing: first))
        try servers.restart(0)
        servers.kill(1)
        #expect(try await isHeard(first, ringing: second))
        #expect(try await isHeard(second, ringing: first))
        await first.end()
        await second.end()
    }

    @Test("servers that come later are found, and meanwhile the state says what is wrong")
    func away() async throws {
        let servers = try NATSServers(1)
        servers.kill(0)
        let first = try Listener(servers.urls, "first")
        let second = try Listener(servers.urls, "second")
        first.doorbell.ring()
        #expect(first.doorbell.state.trouble != nil)
        try servers.restart(0)
        #expect(try await isHeard(first, ringing: second))
        #expect(first.doorbell.state.trouble == nil)
        await first.end()
        await second.end()
    }

    @Test("an address that is none is refused", arguments: ["", ",", "http://x", "nats://a,tcp://b"])
    func addresses(text: String) {
        #expect(throws: NATSDoorbell.SetupError.self) { try NATSDoorbell(urls: text, instance: "x") }
    }
}
