import Testing
import TocsinCore

@Suite("Timestamp")
struct TimestampTests {
    @Test(
        "a moment is written as AppSync writes its own timestamps, with three fraction digits",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_782_907_200_123, "2026-07-01T12:00:00.123Z"), (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (-1, "1969-12-31T23:59:59.999Z"), (-2_208_988_800_000, "1900-01-01T00:00:00.000Z"),
        ] as [(Int64, String)]
    )
    func writesMoments(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).iso8601 == text)
    }
}
