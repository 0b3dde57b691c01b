import Synchronization
import Testing
import TocsinCore
import TocsinServer

@Suite("Identifiers and time of the system")
struct SystemIdentifiersTests {
    /// A clock that stands still, or goes back.
    private final class HandSetTime: TimeSource, Sendable {
        let milliseconds: Atomic<Int64>

        init(_ milliseconds: Int64) {
            self.milliseconds = Atomic(milliseconds)
        }

        func now() -> Timestamp { Timestamp(milliseconds: milliseconds.load(ordering: .relaxed)) }

        func sleep(until moment: Timestamp) async throws {}
    }

    @Test("an id is a UUID of version 7 in lower case that carries its millisecond")
    func form() {
        let id = SystemIdentifiers(time: HandSetTime(0x0197_0000_ABCD)).makeID()
        #expect(id.hasPrefix("01970000-abcd-7"))
        #expect(id.utf8.count == 36)
        let variant = id.utf8[id.utf8.index(id.startIndex, offsetBy: 19)]
        #expect("89ab".utf8.contains(variant))
        #expect(id == id.lowercased())
    }

    @Test("ids grow, also within one millisecond and when the clock goes back")
    func grow() {
        let time = HandSetTime(1_000_000)
        let identifiers = SystemIdentifiers(time: time)
        var ids = (0..<10_000).map { _ in identifiers.makeID() }
        time.milliseconds.store(500_000, ordering: .relaxed)
        ids.append(identifiers.makeID())
        #expect(ids == ids.sorted())
        #expect(Set(ids).count == ids.count)
    }

    @Test("a wall clock set back neither turns time back nor stops it; one set ahead is followed")
    func steady() {
        var clock = SteadyClock()
        let readings: [(wall: Int64, boot: Int64, time: Int64)] = [
            (1000, 10, 1000), (1005, 15, 1005), (500, 20, 1010), (510, 30, 1020), (2000, 31, 2000), (1900, 41, 2010),
        ]
        for reading in readings {
            #expect(clock.read(wall: reading.wall, boot: reading.boot) == reading.time)
        }
    }

    @Test("the system's time never goes back")
    func monotonic() {
        let time = SystemTime()
        let moments = (0..<1000).map { _ in time.now() }
        #expect(moments == moments.sorted())
    }
}
