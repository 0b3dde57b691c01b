import Testing
import TocsinCore

@Suite("A person's quiet")
struct UserSettingsTests {
    private let berlin = TestZones.europe(standard: 3600)

    private func end(_ settings: UserSettings, at text: String, in zone: ZoneRules) throws -> String? {
        settings.quietEnd(at: try #require(Timestamp(awsDateTime: text)), in: zone)?.iso8601
    }

    private func person(_ hours: WeeklyHours...) -> UserSettings {
        var settings = UserSettings(userID: UserID("ann"))
        settings.quietHours = hours
        return settings
    }

    @Test(
        "hours over midnight end on the next morning, by the person's clocks",
        arguments: [
            ("2026-11-27T20:59:59Z", nil), ("2026-11-27T21:00:00Z", "2026-11-28T06:00:00.000Z"),
            ("2026-11-28T05:59:59Z", "2026-11-28T06:00:00.000Z"), ("2026-11-28T06:00:00Z", nil),
            // Saturday evening is not named.
            ("2026-11-28T21:30:00Z", nil),
            // Summer.
            ("2026-07-03T20:30:00Z", "2026-07-04T05:00:00.000Z"),
            // The night in which the clocks are turned forward.
            ("2026-03-27T21:30:00Z", "2026-03-28T06:00:00.000Z"),
        ]
    )
    func overMidnight(at: String, expected: String?) throws {
        let nights = person(WeeklyHours(days: [1, 2, 3, 4, 5], from: 22 * 60, to: 7 * 60))
        #expect(try end(nights, at: at, in: berlin) == expected)
    }

    @Test("hours that follow each other are one quiet, and do-not-disturb goes on top of them")
    func following() throws {
        var week = person(
            WeeklyHours(days: [6], from: 0, to: 0),
            WeeklyHours(days: [0], from: 0, to: 20 * 60)
        )
        #expect(try end(week, at: "2026-11-28T10:00:00Z", in: .utc) == "2026-11-29T20:00:00.000Z")
        week.doNotDisturbUntil = Timestamp(awsDateTime: "2026-11-29T22:00:00Z")
        #expect(try end(week, at: "2026-11-28T10:00:00Z", in: .utc) == "2026-11-29T22:00:00.000Z")
        #expect(try end(week, at: "2026-11-27T10:00:00Z", in: .utc) == "2026-11-29T22:00:00.000Z")
    }

    @Test("a week without an hour that is not quiet ends nothing for ever")
    func always() throws {
        let always = person(WeeklyHours(days: Set(0...6), from: 0, to: 0))
        let end = try #require(try end(always, at: "2026-11-28T10:00:00Z", in: .utc))
        #expect(end > "2026-12-05" && end < "2026-12-09")
    }

    @Test("what is as weighty as was said breaks through; the rest waits, or stays in the feed")
    func breakThrough() throws {
        var settings = person(WeeklyHours(days: Set(0...6), from: 0, to: 12 * 60))
        let now = try #require(Timestamp(awsDateTime: "2026-11-28T10:00:00Z"))
        let noon = try #require(Timestamp(awsDateTime: "2026-11-28T12:00:00Z"))
        let (quiet, over) = (settings.quietEnd(at: now, in: .utc), settings.quietEnd(at: noon, in: .utc))
        #expect(settings.wish(about: 4, whileQuietUntil: quiet) == .hold(until: noon))
        #expect(settings.wish(about: 5, whileQuietUntil: quiet) == nil)
        settings.quietBreakThrough = 4
        settings.quietMode = .feed
        #expect(settings.wish(about: 4, whileQuietUntil: quiet) == nil)
        #expect(settings.wish(about: 3, whileQuietUntil: quiet) == .leaveOut(.quietHours))
        #expect(settings.wish(about: 3, whileQuietUntil: over) == nil)
    }

    @Test("hours are kept as they were said")
    func kept() {
        let hours = WeeklyHours(days: [1, 5], from: 1320, to: 420)
        #expect(WeeklyHours(text: Substring(hours.text)) == hours)
    }
}
