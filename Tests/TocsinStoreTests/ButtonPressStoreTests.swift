import TestDatabases
import Testing
import TocsinCore
import TocsinStore

@Suite("Presses of buttons in the store")
struct ButtonPressStoreTests {
    @Test("all that is over goes at once, in small batches, and no other", arguments: TestDatabase.available)
    func retention(database: TestDatabase) async throws {
        try await database.withStore { store in
            let second: Int64 = 1000
            try await store.write { writer throws(StoreError) in
                for number in 1...9 as ClosedRange<Int64> {
                    let press = ButtonPress(
                        "http1",
                        of: MessageID("m\(number)"),
                        by: UserID("ada"),
                        at: moment(number * second)
                    )
                    _ = try writer.insert(press)
                }
            }
            let lifetime = Int64(ButtonService.lifetimeSeconds) * second
            let reaper = ButtonPressReaper(store: store, time: StillClock(moment: moment(lifetime + 6000)), batch: 2)
            #expect(try await reaper.runOnce() == 5)
            #expect(try await reaper.runOnce() == 0)
            for number in 1...9 {
                let found = try await store.read { reader throws(StoreError) in
                    try reader.buttonPress("http1", of: MessageID("m\(number)"), by: UserID("ada"))
                }
                #expect((found != nil) == (number >= 6), "\(number)")
            }
        }
    }
}
