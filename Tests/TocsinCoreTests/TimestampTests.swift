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

    @Test(
        "seconds are added to the nearest millisecond, backwards too",
        arguments: [
            (0, 0), (1, 1000), (-1, -1000), (0.0004, 0), (0.0005, 1), (-0.0005, -1), (0.1 + 0.2, 300),
            (1e9, 1_000_000_000_000),
        ]
            as [(Double, Int64)]
    )
    func adds(seconds: Double, milliseconds: Int64) {
        #expect(Timestamp(milliseconds: 7).adding(seconds: seconds).milliseconds == 7 + milliseconds)
    }

    @Test(
        "a year has as many digits as it needs, and four at least",
        arguments: [
            (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (253_402_300_800_000, "10000-01-01T00:00:00.000Z"),
        ] as [(Int64, String)]
    )
    func years(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).iso8601 == text)
    }

    @Test("texts of moments are in the order of the moments")
    func textOrder() {
        let moments = stride(from: -3_000_000_000_000, to: 9_000_000_000_000, by: 86_399_999_123).map {
            Timestamp(milliseconds: Int64($0))
        }
        let texts = moments.map(\.iso8601)
        #expect(moments == moments.sorted())
        #expect(texts == texts.sorted())
        #expect(Set(texts).count == moments.count)
    }

    @Test("every day has its own date, and the day after the last of a month is the first of the next")
    func days() {
        let days = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        var day: Int64 = 0
        for year in 1970...2070 {
            let isLeap = year.isMultiple(of: 4)
            for (month, count) in days.enumerated() {
                for number in 1...(count + (isLeap && month == 1 ? 1 : 0)) {
                    let digits = (month < 9 ? "0" : "") + "\(month + 1)" + (number < 10 ? "-0" : "-") + "\(number)"
                    #expect(Timestamp(milliseconds: day * 86_400_000).iso8601.hasPrefix("\(year)-\(digits)T00:00"))
                    day += 1
                }
            }
        }
    }
}

@Suite("Identifiers")
struct IdentifierTests {
    @Test("identifiers of one kind are equal and ordered as their texts are, and are written as them")
    func texts() {
        #expect(TopicID("a") == TopicID("a") && TopicID("a") != TopicID("b"))
        #expect([TopicID("b"), TopicID("B"), TopicID("a")].sorted().map(\.text) == ["B", "a", "b"])
        #expect("\(DeviceID("d1"))" == "d1")
    }

    @Test("a UUID made of two texts is theirs in this order, and tells where the one ends and the other begins")
    func derived() {
        let made = DerivedUUID.text(of: "ab", "c")
        #expect(made == DerivedUUID.text(of: "ab", "c"))
        #expect(made.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        for other in [("c", "ab"), ("a", "bc"), ("abc", ""), ("", "abc"), ("AB", "c")] {
            #expect(DerivedUUID.text(of: other.0, other.1) != made)
        }
        #expect(DerivedUUID.text(of: "aa", "a") != DerivedUUID.text(of: "a", "aa"))
        #expect(OwnerText.isSubject(made) && ClientIDs.uuid.accepts(made))
    }
}
