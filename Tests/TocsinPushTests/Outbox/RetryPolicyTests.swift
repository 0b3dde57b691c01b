import Testing
import TocsinCore
import TocsinPush

@Suite("Retry policy")
struct RetryPolicyTests {
    private func pauses(_ cause: PushRetry.Cause, _ count: Int, _ policy: RetryPolicy = RetryPolicy()) -> [Double?] {
        (1...count).map { policy.pauseSeconds(PushRetry(cause, reason: "r"), attempts: $0, unit: 0.5) }
    }

    @Test("after an answer the pauses grow from 10 to 600 seconds and stay there")
    func afterAnswer() {
        #expect(pauses(.answer, 10) == [10, 10, 20, 40, 80, 160, 320, 600, 600, 600])
        #expect(pauses(.serverFault, 3) == [10, 10, 20])
    }

    @Test("after a broken request they begin with 1 and 5")
    func afterBrokenRequest() {
        #expect(pauses(.brokenRequest, 11) == [1, 5, 10, 10, 20, 40, 80, 160, 320, 600, 600])
    }

    @Test("the fiftieth attempt is the last")
    func lastAttempt() {
        #expect(pauses(.answer, 50)[48] == 600)
        #expect(pauses(.answer, 50)[49] == nil)
    }

    @Test("a schedule of one's own replaces both lists, and ends")
    func ownSchedule() {
        var policy = RetryPolicy()
        policy.replacement = [0.1, 0.5]
        #expect(pauses(.answer, 3, policy) == [0.1, 0.5, nil])
        #expect(pauses(.brokenRequest, 3, policy) == [0.1, 0.5, nil])
    }

    @Test("jitter stays within a tenth, and never shortens a wish", arguments: [0, 0.25, 0.999_999])
    func jitter(_ unit: Double) throws {
        let policy = RetryPolicy()
        let pause = try #require(policy.pauseSeconds(PushRetry(.answer, reason: "r"), attempts: 3, unit: unit))
        #expect((18...22).contains(pause))
        let wish = PushRetry(.answer, reason: "r", afterSeconds: 120)
        let wished = try #require(policy.pauseSeconds(wish, attempts: 1, unit: unit))
        #expect((120...132).contains(wished))
        let short = PushRetry(.answer, reason: "r", afterSeconds: 1)
        #expect(try #require(policy.pauseSeconds(short, attempts: 3, unit: unit)) >= 18)
    }

    @Test("what does not count has no end")
    func uncounted() {
        let retry = PushRetry(.notProcessed, reason: "r", afterSeconds: 1, countsAttempt: false)
        #expect(RetryPolicy().pauseSeconds(retry, attempts: 999, unit: 0) == 1)
    }
}
