import JSON
import Testing
import TocsinServer
import TocsinStore

@Suite("How far a start has come")
struct StartProgressTests {
    @Test("it says what is done, of which part how much is done, and in the end that nothing is left")
    func progress() {
        let progress = StartProgress()
        #expect(progress.report["status"] == "starting")
        #expect(progress.report["doing"] == "reading the settings and the schema")
        #expect(progress.report["percent"] == nil)
        progress.enter(.waitingForLock)
        #expect(progress.report["doing"] == "waiting for the database lock")
        progress.enter(.migrating(number: 8, of: 9, name: "0008_user_facts", percent: 41))
        #expect(progress.report["doing"] == "migration 8 of 9 (0008_user_facts)")
        #expect(progress.report["percent"] == 41)
        progress.enter("making index 1 of 2", percent: 0)
        #expect(progress.report["percent"] == 0)
        progress.enter("joining the other nodes")
        #expect(progress.report["percent"] == nil)
        progress.listens()
        progress.enter("making index 2 of 2", percent: 50)
        #expect(progress.report == ["status": "started"])
    }
}
