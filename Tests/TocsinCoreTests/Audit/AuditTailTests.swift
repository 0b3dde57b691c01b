import Testing
import TocsinCore

@Suite("The end of the audit")
struct AuditTailTests {
    /// Rows by their second; each is read again while it is in what the tail asks for.
    private static func rows(_ seconds: [Int64], _ tail: AuditTail) -> [AuditCursor] {
        seconds.map { AuditCursor(at: Timestamp(milliseconds: $0 * 1000), id: "row-\($0)") }
            .filter { $0.at >= tail.since }
    }

    /// The seconds of rows that are new at each of several looks, at which these rows show.
    private static func new(_ looks: [[Int64]], now: Int64? = nil) -> [[Int64]] {
        var tail = AuditTail(since: Timestamp(milliseconds: 1_000_000), overlapSeconds: 60)
        return looks.map { shown in
            let rows = rows(shown, tail)
            let new = rows.filter(tail.isNew).map { $0.at.milliseconds / 1000 }
            tail.advance(over: rows, now: now.map { Timestamp(milliseconds: $0 * 1000) })
            return new
        }
    }

    @Test("a row is new once, also one that shows after rows of later times")
    func late() {
        #expect(
            Self.new([[1001], [1001, 1050], [1001, 1002, 1050], [1001, 1002, 1050]]) == [[1001], [1050], [1002], []]
        )
    }

    @Test("what is older than the overlap is not asked for any more, and is not new again")
    func old() {
        #expect(
            Self.new([[1001, 1200], [1001, 1139, 1140, 1200], [1001, 1140, 1200]]) == [[1001, 1200], [1140], []]
        )
    }

    @Test("a row from the future does not move the tail beyond now")
    func future() {
        let looks: [[Int64]] = [[1001, 9000], [1001, 1002, 9000], [1001, 1002, 9000]]
        #expect(Self.new(looks, now: 1010) == [[1001, 9000], [1002], []])
        #expect(Self.new(looks) == [[1001, 9000], [], []], "without a clock its time is believed")
    }

    @Test("rows that were noted one by one are not new, whether the look ends or not")
    func noted() {
        var tail = AuditTail(since: Timestamp(milliseconds: 0))
        let rows = Self.rows([1, 2, 3], tail)
        tail.note(rows.prefix(2))
        #expect(rows.filter(tail.isNew).map(\.id) == ["row-3"])
    }
}
