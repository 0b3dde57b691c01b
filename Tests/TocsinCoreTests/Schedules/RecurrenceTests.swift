import Foundation
import Testing
import TocsinCore

@Suite("Recurrence")
struct RecurrenceTests {
    private static let berlin = TestZones.europe(standard: 3600)
    private static let written = "2026-11-24T12:00:30Z"

    private func times(
        _ text: String,
        _ count: Int,
        in zone: ZoneRules = .utc,
        written: String = written,
        after: String? = nil
    ) throws -> [String] {
        let begin = try #require(Timestamp(awsDateTime: written))
        let recurrence = try Recurrence(text, in: zone, writtenAt: begin)
        var (times, moment) = ([String](), try #require(Timestamp(awsDateTime: after ?? written)))
        while times.count < count, let next = recurrence.next(after: moment) {
            times.append(String(next.iso8601.dropLast(8)))
            moment = next
        }
        return times
    }

    @Test("400 rules come when Python's dateutil lets them come, also while the clocks of Berlin change")
    func oracle() throws {
        // Made by Tests/Oracle/recurrences.py, which says how.
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Oracle/recurrences.tsv")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 400)
        for line in lines {
            let fields = line.split(separator: "\t").map(String.init)
            try #require(fields.count == 5, "\(line)")
            let zone = fields[1] == "berlin" ? Self.berlin : .utc
            let moments = fields[2...3].map { Timestamp(milliseconds: (Int64($0) ?? 0) * 1000) }
            let recurrence = try Recurrence(fields[0], in: zone, writtenAt: moments[0])
            var (found, moment) = ([String](), moments[1])
            let expected = fields[4].split(separator: " ").map(String.init).filter { $0 != "-" }
            while found.count < 8, let next = recurrence.next(after: moment) {
                found.append("\(next.milliseconds / 1000)")
                moment = next
            }
            #expect(found == expected, "\(line)")
        }
    }

    @Test(
        "rules that people write come as they mean them",
        arguments: [
            ("RRULE:FREQ=DAILY;BYHOUR=9", ["2026-11-25T09:00", "2026-11-26T09:00"]),
            (
                "RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;BYHOUR=17",
                ["2026-11-30T17:00", "2026-12-31T17:00"]
            ),
            ("RRULE:FREQ=MONTHLY;BYDAY=2TU;BYHOUR=9;BYMINUTE=30", ["2026-12-08T09:30", "2027-01-12T09:30"]),
            ("rrule:freq=monthly;bymonthday=-1;byhour=12", ["2026-11-30T12:00", "2026-12-31T12:00"]),
            ("RRULE:FREQ=HOURLY;INTERVAL=6", ["2026-11-24T18:00", "2026-11-25T00:00"]),
            (
                "DTSTART:20261130T090000\nRRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=2",
                ["2026-11-30T09:00", "2026-12-14T09:00"]
            ),
            ("RRULE:FREQ=DAILY;BYHOUR=9;UNTIL=20261125", ["2026-11-25T09:00"]),
            ("RRULE:FREQ=DAILY;BYHOUR=9;UNTIL=20261126T085959Z", ["2026-11-25T09:00"]),
            ("RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYHOUR=0", ["2028-02-29T00:00", "2032-02-29T00:00"]),
        ]
    )
    func coming(text: String, expected: [String]) throws {
        #expect(try times(text, 2) == expected)
    }

    @Test("a time on the wall stays over a change, one that is skipped comes at the change, one shown twice once")
    func clocks() throws {
        let daily = "RRULE:FREQ=DAILY;BYHOUR=2;BYMINUTE=30"
        #expect(
            try times(daily, 3, in: Self.berlin, after: "2027-03-27T12:00:00Z")
                == ["2027-03-28T01:00", "2027-03-29T00:30", "2027-03-30T00:30"]
        )
        #expect(
            try times(daily, 2, in: Self.berlin, written: "2026-10-20T00:00:00Z", after: "2026-10-24T12:00:00Z")
                == ["2026-10-25T00:30", "2026-10-26T01:30"]
        )
    }

    @Test("COUNT counts from when the rule was written, and nothing comes behind it")
    func count() throws {
        let rule = "RRULE:FREQ=DAILY;BYHOUR=9;COUNT=3"
        #expect(try times(rule, 9) == ["2026-11-25T09:00", "2026-11-26T09:00", "2026-11-27T09:00"])
        #expect(try times(rule, 9, after: "2026-11-26T10:00:00Z") == ["2026-11-27T09:00"])
    }

    @Test(
        "what is not taken is told by the name of its part, with what to write",
        arguments: [
            ("RRULE:FREQ=MINUTELY", "FREQ, one of HOURLY"), ("RRULE:BYDAY=MO", "needs FREQ"),
            ("RRULE:FREQ=DAILY", "needs BYHOUR"), ("RRULE:FREQ=DAILY;BYHOUR=24", "BYHOUR has \"24\""),
            ("RRULE:FREQ=DAILY;BYHOUR=9;BYSECOND=1", "BYSECOND, which this server does not take"),
            ("RRULE:FREQ=DAILY;BYHOUR=9;BYYEARDAY=1", "BYYEARDAY, which this server"),
            ("RRULE:FREQ=WEEKLY;BYDAY=1MO;BYHOUR=9", "BYDAY has a number before a day"),
            ("RRULE:FREQ=WEEKLY;BYMONTHDAY=1;BYHOUR=9", "BYMONTHDAY does not go with FREQ=WEEKLY"),
            ("RRULE:FREQ=MONTHLY;BYDAY=XX;BYHOUR=9", "BYDAY has \"XX\""),
            ("RRULE:FREQ=MONTHLY;BYMONTHDAY=0;BYHOUR=9", "BYMONTHDAY has \"0\""),
            ("RRULE:FREQ=DAILY;BYHOUR=9;COUNT=2;UNTIL=20270101", "COUNT and UNTIL"),
            ("RRULE:FREQ=DAILY;BYHOUR=9;UNTIL=20270231", "UNTIL has \"20270231\""),
            ("RRULE:FREQ=DAILY;BYHOUR=9;INTERVAL=0", "INTERVAL has \"0\""),
            ("RRULE:FREQ=DAILY;BYHOUR=9;BYHOUR=10", "BYHOUR twice"), ("RRULE:FREQ=DAILY;BYHOUR", "has \"BYHOUR\""),
            ("DTSTART;TZID=Europe/Berlin:20261130T090000\nRRULE:FREQ=DAILY", "the zone in timeZone"),
            ("RRULE:FREQ=DAILY;BYHOUR=9 EXDATE:20261130T090000", "one RRULE"),
            ("RRULE:FREQ=YEARLY;BYDAY=MO;BYSETPOS=1;BYHOUR=9", "BYSETPOS goes with FREQ=MONTHLY"),
        ]
    )
    func refused(text: String, expected: String) throws {
        let written = try #require(Timestamp(awsDateTime: Self.written))
        let problem = #expect(throws: CronProblem.self) { try Recurrence(text, in: .utc, writtenAt: written) }
        #expect(problem?.text.contains(expected) == true, "\(problem?.text ?? "")")
    }

    @Test("any text is a rule or is refused, and a rule's search ends")
    func anything() throws {
        let words = [
            "RRULE:", "DTSTART:", "FREQ=", "DAILY", "YEARLY", "MONTHLY", ";", "=", ",", "BYDAY=", "-1MO", "31",
            "BYMONTHDAY=", "BYMONTH=2", "\n", "20261130T090000", "Z", "COUNT=", "9", "BYHOUR=1", "é", "BYSETPOS=-31",
        ]
        var random = SystemRandomNumberGenerator()
        let written = try #require(Timestamp(awsDateTime: Self.written))
        for _ in 0..<3000 {
            let text = "RRULE:FREQ=" + (0..<8).map { _ in words.randomElement(using: &random) ?? "" }.joined()
            guard let recurrence = try? Recurrence(text, in: .utc, writtenAt: written) else { continue }
            if let next = recurrence.next(after: written) { #expect(next > written, "\(text)") }
        }
    }
}
