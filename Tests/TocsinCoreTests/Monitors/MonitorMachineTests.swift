import Testing
import TocsinCore

@Suite("What a ping, or its absence, makes of a monitor")
struct MonitorMachineTests {
    private static let start = Timestamp(milliseconds: 1_800_000_000_000)

    private static func at(_ seconds: Double) -> Timestamp { start.adding(seconds: seconds) }

    /// One step of a life, and when it comes, in seconds.
    enum Step: Sendable {
        case success(Double, run: String? = nil)
        case start(Double, run: String? = nil)
        case fail(Double, status: Int? = nil)
        case log(Double)
        case look(Double)
        case pause(Double, until: Double?)
        case away(from: Double, to: Double)
    }

    /// A life: its rules, its steps with a period of 100 seconds, and what is seen after each.
    struct Life: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var rules: MonitorRules
        var steps: [Step]
        var seen: [String]

        init(_ name: String, rules: MonitorRules = MonitorRules(graceSeconds: 20), _ steps: [(Step, String)]) {
            (testDescription, self.rules) = (name, rules)
            (self.steps, seen) = (steps.map(\.0), steps.map(\.1))
        }
    }

    /// The state, the news, and in how many seconds to look again.
    private static func seen(_ step: Step, _ machine: MonitorMachine, _ standing: inout MonitorStanding) -> String {
        let moment: Double
        let news: MonitorNews?
        func take(_ ping: MonitorPing, _ seconds: Double, _ standing: inout MonitorStanding) -> MonitorNews? {
            machine.take(ping, on: &standing, at: at(seconds), next: at(seconds + 100)).news
        }
        switch step {
        case .success(let seconds, let run):
            (moment, news) = (seconds, take(MonitorPing(.success, runID: run), seconds, &standing))
        case .start(let seconds, let run):
            (moment, news) = (seconds, take(MonitorPing(.start, runID: run), seconds, &standing))
        case .fail(let seconds, let status):
            (moment, news) = (seconds, take(MonitorPing(.fail, exitStatus: status), seconds, &standing))
        case .log(let seconds): (moment, news) = (seconds, take(MonitorPing(.log), seconds, &standing))
        case .look(let seconds):
            (moment, news) = (seconds, machine.pass(&standing, at: at(seconds), next: at(seconds + 100)))
        case .pause(let seconds, let end):
            let until = end.map { at($0) }
            (moment, news) = (
                seconds, machine.pause(&standing, until: until, at: at(seconds), next: at(seconds + 100))
            )
        case .away(let from, let to):
            machine.forgive(&standing, from: at(from), to: at(to))
            (moment, news) = (to, nil)
        }
        var words = [standing.state.rawValue]
        switch news {
        case nil: break
        case .up: words.append("up")
        case .unwatched: words.append("unwatched")
        case .down(.silence): words.append("silent")
        case .down(.endless): words.append("endless")
        case .down(.failure(let status, _)): words.append("failed \(status.map(String.init) ?? "-")")
        }
        if let next = machine.nextLook(at: standing) {
            words.append("\((next.milliseconds - at(moment).milliseconds) / 1000)")
        }
        return words.joined(separator: " ")
    }

    private static let lives: [Life] = [
        Life("what was never pinged never alerts", [(.look(1_000_000), "NEW"), (.log(1_000_001), "NEW")]),
        Life(
            "it is late when a success is due, down after the grace, and up with the next success",
            [
                (.success(0), "UP 100"), (.look(99), "UP 1"), (.look(100), "LATE 20"), (.look(119), "LATE 1"),
                (.look(120), "DOWN silent"), (.look(5000), "DOWN"), (.success(5001), "UP up 100"),
            ]
        ),
        Life(
            "a ping in its grace is in time",
            [(.success(0), "UP 100"), (.look(100), "LATE 20"), (.success(119), "UP 100"), (.look(120), "UP 99")]
        ),
        Life("one look long after finds it down", [(.success(0), "UP 100"), (.look(9000), "DOWN silent")]),
        Life(
            "a fail ping takes it down at once, each further one is told, and a success brings it up",
            [
                (.success(0), "UP 100"), (.fail(5, status: 3), "DOWN failed 3"), (.fail(6), "DOWN failed -"),
                (.success(7), "UP up 100"),
            ]
        ),
        Life(
            "a first ping that fails is down",
            [(.fail(0), "DOWN failed -"), (.success(1), "UP up 100")]
        ),
        Life(
            "so many failures and successes in a row are asked for",
            rules: MonitorRules(graceSeconds: 20, failures: 3, successes: 2),
            [
                (.success(0), "UP 100"), (.fail(1), "UP 99"), (.fail(2), "UP 98"), (.success(3), "UP 100"),
                (.fail(4), "UP 99"), (.fail(5), "UP 98"), (.fail(6), "DOWN failed -"), (.success(7), "DOWN"),
                (.fail(8), "DOWN failed -"), (.success(9), "DOWN"), (.success(10), "UP up 100"),
            ]
        ),
        Life(
            "failures below the bound are no success: it is due as before",
            rules: MonitorRules(graceSeconds: 20, failures: 5),
            [(.success(0), "UP 100"), (.fail(90), "UP 10"), (.look(100), "LATE 20"), (.look(120), "DOWN silent")]
        ),
        Life(
            "work that has begun must end within its time, whatever is due",
            rules: MonitorRules(graceSeconds: 20, maximumRunSeconds: 50),
            [
                (.success(0), "UP 100"), (.start(90), "RUNNING 50"), (.look(120), "RUNNING 20"),
                (.look(140), "DOWN endless"), (.success(150), "UP up 100"),
            ]
        ),
        Life(
            "without a time of its own, work has the grace's",
            [(.start(0), "RUNNING 20"), (.look(20), "DOWN endless")]
        ),
        Life(
            "who begins again and again and never ends is found",
            rules: MonitorRules(graceSeconds: 20, maximumRunSeconds: 50),
            [
                (.success(0), "UP 100"), (.start(110), "RUNNING 50"), (.start(150), "RUNNING 20"),
                (.start(169), "RUNNING 1"), (.look(170), "DOWN endless"),
            ]
        ),
        Life(
            "the end of another run leaves this one going",
            rules: MonitorRules(graceSeconds: 20, maximumRunSeconds: 50),
            [
                (.start(0, run: "a"), "RUNNING 50"), (.start(10, run: "b"), "RUNNING 50"),
                (.success(15, run: "a"), "RUNNING 45"), (.success(20, run: "b"), "UP 100"),
            ]
        ),
        Life(
            "while it is down, a start is no end of it",
            [(.fail(0), "DOWN failed -"), (.start(1), "DOWN"), (.look(900), "DOWN"), (.success(901), "UP up 100")]
        ),
        Life(
            "a pause with an end holds whatever comes, and then a whole period is given",
            [
                (.success(0), "UP 100"), (.pause(10, until: 500), "PAUSED 490"), (.success(20), "PAUSED 480"),
                (.look(400), "PAUSED 100"), (.look(500), "UP 100"), (.look(620), "DOWN silent"),
            ]
        ),
        Life(
            "a pause without an end ends with the next ping, and a time that has passed ends one",
            [
                (.success(0), "UP 100"), (.pause(10, until: nil), "PAUSED"), (.look(5000), "PAUSED"),
                (.log(5001), "PAUSED"), (.success(5002), "UP 100"), (.pause(5003, until: nil), "PAUSED"),
                (.pause(5004, until: 5004), "UP 100"),
            ]
        ),
        Life(
            "a pause while it is down ends its incident",
            [(.fail(0), "DOWN failed -"), (.pause(1, until: 50), "PAUSED unwatched 49"), (.look(50), "UP 100")]
        ),
        Life("a pause before the first ping leaves it new", [(.pause(0, until: 9), "PAUSED 9"), (.look(9), "NEW")]),
        Life(
            "what fell due while nothing could arrive gets a grace again, at least a minute",
            [
                (.success(0), "UP 100"), (.away(from: 50, to: 300), "UP -200"), (.look(300), "LATE 60"),
                (.look(359), "LATE 1"), (.look(360), "DOWN silent"),
            ]
        ),
        Life(
            "a ping after we were away is as any other",
            [
                (.success(0), "UP 100"), (.away(from: 50, to: 300), "UP -200"), (.look(300), "LATE 60"),
                (.success(330), "UP 100"), (.look(430), "LATE 20"),
            ]
        ),
        Life(
            "what had fallen due before we went is not forgiven, nor what falls due later",
            [
                (.success(0), "UP 100"), (.away(from: 130, to: 300), "UP -200"), (.look(300), "DOWN silent"),
                (.success(301), "UP up 100"), (.away(from: 310, to: 400), "UP 1"), (.look(401), "LATE 20"),
            ]
        ),
        Life(
            "work under way while we were away gets time, too",
            [(.start(0), "RUNNING 20"), (.away(from: 10, to: 100), "RUNNING 60"), (.look(160), "DOWN endless")]
        ),
    ]

    @Test("each step of a life", arguments: lives)
    func life(_ life: Life) {
        let machine = MonitorMachine(life.rules)
        var standing = MonitorStanding()
        var seen: [String] = []
        for step in life.steps { seen.append(Self.seen(step, machine, &standing)) }
        #expect(seen == life.seen)
    }

    @Test("how long work took is known where start and end carry the same id")
    func durations() {
        let machine = MonitorMachine(MonitorRules())
        let pairs: [(String?, String?, Int64?)] = [
            (nil, nil, 7000), ("a", "a", 7000), ("a", "b", nil), ("a", nil, nil), (nil, "a", nil),
        ]
        for (first, last, expected) in pairs {
            var standing = MonitorStanding()
            _ = machine.take(MonitorPing(.start, runID: first), on: &standing, at: Self.at(0), next: Self.at(100))
            let taken = machine.take(
                MonitorPing(.success, runID: last),
                on: &standing,
                at: Self.at(7),
                next: Self.at(107)
            )
            #expect(taken.durationMilliseconds == expected, "\(first ?? "-") \(last ?? "-")")
            #expect(standing.lastDurationMilliseconds == expected)
        }
    }

    @Test("another schedule counts from now on, and says nothing of what is down or new")
    func rescheduled() {
        let machine = MonitorMachine(MonitorRules(graceSeconds: 20))
        for state in MonitorState.allCases {
            var standing = MonitorStanding()
            (standing.state, standing.dueAt) = (state, Self.at(-5))
            machine.reschedule(&standing, next: Self.at(50))
            let isWatched = [.up, .late, .running].contains(state)
            #expect(standing.dueAt == Self.at(isWatched ? 50 : -5), "\(state)")
        }
    }

    @Test("a gap begins when nobody said for half a minute that pings can arrive, and gaps close together are one")
    func gaps() {
        let watch = MonitorWatch(seenAt: Self.at(0))
        #expect(watch.seen(at: Self.at(30)).gap == nil)
        let after = watch.seen(at: Self.at(100))
        #expect(after == MonitorWatch(seenAt: Self.at(100), gap: Self.at(0)..<Self.at(100)))
        #expect(after.seen(at: Self.at(105)).gap == after.gap)
        #expect(after.seen(at: Self.at(105)).seen(at: Self.at(200)).gap == Self.at(0)..<Self.at(200))
        var later = after
        later.seenAt = Self.at(500)
        #expect(later.seen(at: Self.at(600)).gap == Self.at(500)..<Self.at(600))
        #expect(after.seen(at: Self.at(90)).gap == after.gap)
    }

    @Test("what it was down is no uptime, and what it was paused does not count")
    func uptime() {
        let window = Self.at(0)..<Self.at(100)
        let down = MonitorSpell(beganAt: Self.at(10), endedAt: Self.at(20), isPause: false)
        let before = MonitorSpell(beganAt: Self.at(-50), endedAt: Self.at(5), isPause: false)
        let open = MonitorSpell(beganAt: Self.at(90), endedAt: nil, isPause: false)
        let pause = MonitorSpell(beganAt: Self.at(20), endedAt: Self.at(70), isPause: true)
        #expect(MonitorUptime.part(of: window, without: []) == 1)
        #expect(MonitorUptime.part(of: window, without: [down]) == 0.9)
        #expect(MonitorUptime.part(of: window, without: [before, down, open]) == 0.75)
        #expect(MonitorUptime.part(of: window, without: [down, pause]) == 0.8)
        let all = MonitorSpell(beganAt: Self.at(-1), endedAt: nil, isPause: true)
        #expect(MonitorUptime.part(of: window, without: [all]) == nil)
    }

    @Test(
        "lengths of time are told in their two largest units",
        arguments: [
            (Int64(0), "0 s"), (59, "59 s"), (60, "1 min"), (61, "1 min 1 s"), (3600, "1 h"), (3660, "1 h 1 min"),
            (3601, "1 h"), (93_600, "26 h"), (172_800, "2 days"), (266_400, "3 days 2 h"),
        ]
    )
    func lengths(seconds: Int64, text: String) {
        #expect(MonitorWords.text(ofSeconds: seconds) == text)
    }

    @Test("the words say what is wrong and what was expected")
    func words() {
        let (now, name) = (Self.at(93_600), "backup")
        let (daily, nightly) = (
            MonitorSchedule.period(seconds: 86_400), MonitorSchedule.cron("0 2 * * *", timeZone: "UTC")
        )
        let titles = [
            MonitorWords.title(name, .silence(since: Self.at(0)), daily, at: now),
            MonitorWords.title(name, .silence(since: nil), nightly, at: now),
            MonitorWords.title(name, .endless(since: Self.at(93_600 - 10_800)), daily, at: now),
            MonitorWords.title(name, .failure(exitStatus: 2, text: ""), daily, at: now),
            MonitorWords.title(name, .failure(exitStatus: nil, text: ""), daily, at: now),
        ]
        #expect(
            titles == [
                "backup has not reported for 26 h (expected every 24 h)",
                "backup has not reported (expected at 0 2 * * *, UTC)", "backup has been running for 3 h",
                "backup failed with status 2", "backup failed",
            ]
        )
    }

    @Test("a cron line is due by the clocks of its zone")
    func cron() throws {
        let schedule = MonitorSchedule.cron("30 2 * * *", timeZone: "Europe/Berlin")
        let moment = try #require(Timestamp(awsDateTime: "2026-07-01T12:00:00Z"))
        struct Zones: ZoneSource {
            func zone(named name: String) -> ZoneRules? {
                name == "Europe/Berlin" ? TestZones.europe(standard: 3600) : nil
            }
        }
        #expect(schedule.next(after: moment, zones: Zones())?.iso8601 == "2026-07-02T00:30:00.000Z")
        #expect(MonitorSchedule.cron("30 2 * * *", timeZone: "Mars").next(after: moment, zones: Zones()) == nil)
    }

    @Test("a text is kept up to 10,000 bytes, whole characters only")
    func text() {
        #expect(MonitorPing(.log, text: String(repeating: "ö", count: 6000)).text.utf8.count == 10_000)
        #expect(MonitorPing(.log, text: "a" + String(repeating: "ö", count: 6000)).text.utf8.count == 9999)
        #expect(MonitorPing(.log, text: "a\0b").text == "ab")
    }
}
