import Testing
import TocsinCore

@Suite("CronLine")
struct CronLineTests {
    private let berlin = TestZones.europe(standard: 3600)

    private func next(_ line: String, after text: String, in zone: ZoneRules = .utc) throws -> String? {
        let moment = try #require(Timestamp(awsDateTime: text))
        return try CronLine(line).next(after: moment, in: zone)?.iso8601
    }

    @Test(
        "lists, ranges, steps, names and L come when cron lets them come",
        arguments: [
            ("30 8 * * mon-fri", "2026-11-27T08:30:00Z", "2026-11-30T08:30:00.000Z"),
            ("0,30 * * * *", "2026-11-27T08:29:59.999Z", "2026-11-27T08:30:00.000Z"),
            ("*/20 9-17/4 * * *", "2026-11-27T09:40:00Z", "2026-11-27T13:00:00.000Z"),
            ("0 12 L * *", "2028-02-01T00:00:00Z", "2028-02-29T12:00:00.000Z"),
            ("0 0 29 feb *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00.000Z"),
            ("0 0 1 jan,jul *", "2026-11-27T00:00:00Z", "2027-01-01T00:00:00.000Z"),
            ("0 9 * * friL", "2026-11-01T00:00:00Z", "2026-11-27T09:00:00.000Z"),
            ("0 9 * * 7", "2026-11-23T00:00:00Z", "2026-11-29T09:00:00.000Z"),
            ("0 9 13 * fri", "2026-11-01T00:00:00Z", "2026-11-06T09:00:00.000Z"),
            ("0 9 * * sat-sun", "2026-11-23T00:00:00Z", "2026-11-28T09:00:00.000Z"),
        ]
    )
    func coming(line: String, after: String, expected: String) throws {
        #expect(try next(line, after: after) == expected)
    }

    @Test("a time that the clocks skip comes when they skip it, once")
    func skipped() throws {
        #expect(try next("30 2 * * *", after: "2026-03-28T12:00:00Z", in: berlin) == "2026-03-29T01:00:00.000Z")
        #expect(try next("30 2 * * *", after: "2026-03-29T01:00:00Z", in: berlin) == "2026-03-30T00:30:00.000Z")
    }

    @Test("a time that the clocks show twice comes the first time only")
    func shownTwice() throws {
        #expect(try next("30 2 * * *", after: "2026-10-24T12:00:00Z", in: berlin) == "2026-10-25T00:30:00.000Z")
        #expect(try next("30 2 * * *", after: "2026-10-25T00:30:00Z", in: berlin) == "2026-10-26T01:30:00.000Z")
    }

    @Test("a line for every hour comes each hour over both changes of the clocks")
    func everyHour() throws {
        for start in ["2026-03-28T22:30:00Z", "2026-10-24T22:30:00Z"] {
            var moment = try #require(Timestamp(awsDateTime: start))
            let line = try CronLine("30 * * * *")
            for _ in 0..<8 {
                let next = try #require(line.next(after: moment, in: berlin))
                #expect(next.milliseconds - moment.milliseconds == 3_600_000)
                moment = next
            }
        }
    }

    @Test("a wall's time stays over a change: eight in the morning is eight in the morning")
    func wallTime() throws {
        #expect(try next("0 8 * * *", after: "2026-03-28T12:00:00Z", in: berlin) == "2026-03-29T06:00:00.000Z")
        #expect(try next("0 8 * * *", after: "2026-10-24T12:00:00Z", in: berlin) == "2026-10-25T07:00:00.000Z")
    }

    @Test(
        "what is wrong is told with its place and with what to write",
        arguments: [
            ("60 * * * *", "\"60\" in the field of the minute, \"60\"; write 0 to 59"),
            ("0 24 * * *", "\"24\" in the field of the hour"), ("0 0 0 * *", "\"0\" in the field of the day of month"),
            ("0 0 1 foo *", "\"foo\" in the field of the month"),
            ("0 0 * * 1-9", "\"1-9\" in the field of the day of week"),
            ("*/0 * * * *", "\"*/0\" in the field of the minute"), ("5- * * * *", "\"5-\" in the field of the minute"),
            ("@daily", "has one field; write five"), ("0 0 30 2 *", "never comes"),
            ("0 0 31 4,6,9,11 *", "never comes"),
            ("1,,2 * * * *", "\"\" in the field of the minute"), ("20-10 * * * *", "\"20-10\""),
        ]
    )
    func refused(line: String, expected: String) {
        let problem = #expect(throws: CronProblem.self) { try CronLine(line) }
        #expect(problem?.text.contains(expected) == true, "\(problem?.text ?? "")")
    }

    @Test("those that came while nothing ran are counted, up to a limit")
    func missed() throws {
        let due = try #require(Timestamp(awsDateTime: "2026-11-27T08:00:00Z"))
        let now = try #require(Timestamp(awsDateTime: "2026-11-29T09:00:00Z"))
        #expect(try CronLine("0 8 * * *").missed(since: due, until: now, in: .utc) == 2)
        #expect(try CronLine("* * * * *").missed(since: due, until: now, in: .utc) == 100)
    }

    @Test("the next time is found in few steps at any time of the day, also while the clocks change")
    func steps() throws {
        let lines = try ["* * * * *", "*/7 * * * *", "59 23 * * *", "* 2 * * *"].map { try CronLine($0) }
        for start in ["2026-11-27T23:58:30Z", "2026-03-28T22:59:00Z", "2026-10-24T23:30:00Z"] {
            var moment = try #require(Timestamp(awsDateTime: start))
            for _ in 0..<48 {
                for line in lines {
                    let found = line.search(after: moment, in: berlin)
                    #expect(found.time != nil)
                    // The minutes of an hour, by which the clocks change, on each of three days.
                    #expect(found.steps <= 190, "\(line) after \(moment.iso8601): \(found.steps)")
                    if !["2026-03-2", "2026-10-2"].contains(where: moment.iso8601.hasPrefix) {
                        #expect(found.steps <= 6, "\(line) after \(moment.iso8601): \(found.steps)")
                    }
                }
                moment = moment.adding(seconds: 1807)
            }
        }
    }

    @Test("around a change of the clocks, the next time is the one that a look at all times of a week finds")
    func walked() throws {
        let lines: [(cron: String, minutes: Set<Int64>, hours: Range<Int64>)] = [
            ("*/10 * * * *", [0, 10, 20, 30, 40, 50], 0..<24), ("15,45 1-3 * * *", [15, 45], 1..<4),
            ("5 0,1,2,3,4,5 * * *", [5], 0..<6),
        ]
        for start in ["2026-10-22T00:00:00Z", "2026-03-26T00:00:00Z"] {
            let begin = try #require(Timestamp(awsDateTime: start))
            for line in lines {
                var times: Set<Int64> = []
                for wall in stride(from: begin.milliseconds / 1000, to: begin.milliseconds / 1000 + 7 * 86_400, by: 60)
                where line.minutes.contains(wall / 60 % 60) && line.hours.contains(wall / 3600 % 24) {
                    let isHourly = line.hours.count == 24
                    switch berlin.moments(ofWall: wall) {
                    case .one(let moment): times.insert(moment)
                    case .two(let first, let second): times.formUnion(isHourly ? [first, second] : [first])
                    case .skipped(let change): if !isHourly { times.insert(change) }
                    }
                }
                let sorted = times.sorted()
                let cron = try CronLine(line.cron)
                for second in stride(from: Int64(86_400), to: 5 * 86_400, by: 419) {
                    let from = begin.milliseconds / 1000 + second
                    let next = cron.next(after: Timestamp(milliseconds: from * 1000), in: berlin)
                    let expected = sorted.first { $0 > from }.map { Timestamp(milliseconds: $0 * 1000) }
                    #expect(next == expected, "\(line.cron) after \(from)")
                }
            }
        }
    }
}
