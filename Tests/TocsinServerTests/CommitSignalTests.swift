import Synchronization
import Testing
import TocsinCore
import TocsinServer

@Suite("Signal of commits")
struct CommitSignalTests {
    @Test("a signal that was given ten thousand times reaches its listener as directly as at first")
    func often() {
        let signal = CommitSignal()
        let addresses = Mutex([Int]())
        signal.connect { _ in
            var here = 0
            let address = withUnsafeMutablePointer(to: &here) { Int(bitPattern: $0) }
            addresses.withLock { $0.append(address) }
        }
        for _ in 1...10_000 { signal.ring(.atOnce) }
        let seen = addresses.withLock { $0 }
        #expect(seen.count == 10_000)
        // How much more of the stack the deepest call took than the first.
        #expect((seen.first ?? 0) - (seen.min() ?? 0) < 4096)
    }
}
