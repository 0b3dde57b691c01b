import Testing
import TocsinCore

@Suite("All deliveries in one word")
struct DeliverySummaryTests {
    @Test(
        "B16: skipped ones count for nothing; what is open makes all pending; none accepted is NONE",
        arguments: [
            ([:], false, .none), ([.skipped: 2], false, .none), ([.failed: 1], false, .none),
            ([.ended: 1, .expired: 1, .skipped: 1], false, .none), ([.accepted: 2], false, .allAccepted),
            ([.accepted: 1, .skipped: 3], false, .allAccepted), ([.accepted: 1, .failed: 1], false, .partly),
            ([.accepted: 1, .ended: 1], false, .partly), ([.accepted: 1, .expired: 1], false, .partly),
            ([.accepted: 5, .waiting: 1], false, .pending), ([.sending: 1], false, .pending), ([:], true, .pending),
            ([.accepted: 1], true, .pending),
        ] as [([DeliveryStatus: Int], Bool, DeliverySummary.State)]
    )
    func state(counts: [DeliveryStatus: Int], isFanningOut: Bool, expected: DeliverySummary.State) {
        var summary = DeliverySummary(counts: counts)
        summary.isFanningOut = isFanningOut
        #expect(summary.state == expected)
    }

    @Test("an owner text is shown as the user name, or as it is where it has none")
    func owners() {
        let shown = ["sub-1::ada", "ada", "::ada", "sub-1::", "a::b::c", ""].map(OwnerText.shown)
        #expect(shown == ["ada", "ada", "ada", "sub-1::", "b::c", ""])
    }
}
