import Testing
import TocsinCore

@Suite("What an act makes of an incident")
struct IncidentMachineTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)
    private static let rules = IncidentRules()

    private static func standing(_ state: IncidentState, _ edit: (inout IncidentStanding) -> Void = { _ in })
        -> IncidentStanding
    {
        var standing = IncidentStanding(openedAt: now.adding(seconds: -600))
        (standing.state, standing.title) = (state, "disk")
        switch state {
        case .open: break
        case .acknowledged: standing.acknowledgedBy = "alice"
        case .snoozed: standing.snoozedUntil = now.adding(seconds: 3600)
        case .resolved: (standing.resolution, standing.resolvedAt) = (.sender, now.adding(seconds: -60))
        }
        edit(&standing)
        return standing
    }

    /// What is seen of an outcome: the change and how loud, the state, or a word.
    private static func shown(_ outcome: IncidentMachine.Outcome) -> String {
        switch outcome {
        case .opens: "opens"
        case .stays(let standing): "\(standing.state.rawValue)"
        case .changes(let standing, let change, let loudness):
            "\(standing.state.rawValue) \(change.rawValue) \(loudness.rawValue)"
        case .settles: "settles"
        case .refused: "refused"
        }
    }

    private static func trigger(
        _ title: String = "disk",
        priority: Int = 4,
        _ alerts: IncidentTrigger.Alerts = .same,
        isLate: Bool = false
    ) -> IncidentAct {
        .trigger(IncidentTrigger(title: title, priority: priority, alerts: alerts, isLate: isLate))
    }

    /// One case a cell of the table in `docs/incidents.md`.
    private static let cells: [(String, IncidentAct, IncidentStanding?, String)] = [
        ("the first trigger opens", trigger(), nil, "opens"),
        ("a repeat counts", trigger(), standing(.open), "OPEN"),
        ("a new title is told", trigger("full"), standing(.open), "OPEN UPDATED NONE"),
        ("a lower priority is told", trigger(priority: 3), standing(.open), "OPEN UPDATED NONE"),
        ("another alert is told", trigger("disk", .added), standing(.open), "OPEN UPDATED NONE"),
        ("a repeat is quiet while somebody has it", trigger(), standing(.acknowledged), "ACKNOWLEDGED"),
        ("a repeat is quiet while it is snoozed", trigger(), standing(.snoozed), "SNOOZED"),
        ("soon after its sender's end it opens again", trigger(), standing(.resolved), "OPEN REOPENED LOUD"),
        ("a late word of its sender waits", trigger(isLate: true), standing(.resolved), "settles"),
        (
            "soon after a person's end it is late", trigger(), standing(.resolved) { $0.resolution = .person },
            "RESOLVED LATE NONE"
        ),
        (
            "that is noted once", trigger(),
            standing(.resolved) {
                $0.resolution = .person
                $0.isLate = true
            }, "RESOLVED"
        ),
        (
            "after a person's end and its sender's it is another one", trigger(),
            standing(.resolved) {
                $0.resolution = .person
                $0.senderResolvedAt = now
            }, "opens"
        ),
        (
            "long after its end it is another one", trigger(),
            standing(.resolved) { $0.resolvedAt = now.adding(seconds: -300) }, "opens"
        ),
        (
            "after an end by time it opens again", trigger(), standing(.resolved) { $0.resolution = .time },
            "OPEN REOPENED LOUD"
        ),
        ("a higher priority sounds", trigger(priority: 5), standing(.open), "OPEN RAISED LOUD"),
        (
            "a higher priority sounds though somebody has it", trigger(priority: 5), standing(.acknowledged),
            "ACKNOWLEDGED RAISED LOUD"
        ),
        ("a higher priority wakes", trigger(priority: 5), standing(.snoozed), "OPEN RAISED LOUD"),

        ("somebody takes it on", .acknowledge(by: "alice"), standing(.open), "ACKNOWLEDGED ACKNOWLEDGED QUIET"),
        ("its sender does", .acknowledge(by: nil), standing(.open), "ACKNOWLEDGED ACKNOWLEDGED QUIET"),
        ("the same again changes nothing", .acknowledge(by: "alice"), standing(.acknowledged), "ACKNOWLEDGED"),
        ("another joins", .acknowledge(by: "bob"), standing(.acknowledged), "ACKNOWLEDGED JOINED NONE"),
        (
            "who joined has joined", .acknowledge(by: "bob"), standing(.acknowledged) { $0.joined = ["bob"] },
            "ACKNOWLEDGED"
        ),
        ("its sender adds nothing", .acknowledge(by: nil), standing(.acknowledged), "ACKNOWLEDGED"),
        (
            "a snoozed one is taken on", .acknowledge(by: "bob"), standing(.snoozed),
            "ACKNOWLEDGED ACKNOWLEDGED QUIET"
        ),
        ("nobody takes on what is over", .acknowledge(by: "bob"), standing(.resolved), "refused"),
        ("nobody takes on what is not there", .acknowledge(by: nil), nil, "refused"),

        ("an open one is nobody's", .unacknowledge, standing(.open), "OPEN"),
        ("it is given back", .unacknowledge, standing(.acknowledged), "OPEN UNACKNOWLEDGED LOUD"),
        ("a snoozed one is nobody's", .unacknowledge, standing(.snoozed), "SNOOZED"),
        ("what is over is not given back", .unacknowledge, standing(.resolved), "refused"),

        ("it sleeps", .snooze(until: now), standing(.open), "SNOOZED SNOOZED QUIET"),
        ("it sleeps for who has it", .snooze(until: now), standing(.acknowledged), "SNOOZED SNOOZED QUIET"),
        ("it sleeps longer", .snooze(until: now), standing(.snoozed), "SNOOZED SNOOZED QUIET"),
        (
            "it sleeps as long", .snooze(until: now.adding(seconds: 3600)), standing(.snoozed), "SNOOZED"
        ),
        ("what is over does not sleep", .snooze(until: now), standing(.resolved), "refused"),

        ("an open one is awake", .wake, standing(.open), "OPEN"),
        ("one that somebody has is awake", .wake, standing(.acknowledged), "ACKNOWLEDGED"),
        ("it wakes", .wake, standing(.snoozed), "OPEN WOKEN LOUD"),
        ("what is over does not wake", .wake, standing(.resolved), "RESOLVED"),

        ("its sender ends it", .resolve(.sender), standing(.open), "RESOLVED RESOLVED QUIET"),
        ("its sender ends it for who has it", .resolve(.sender), standing(.acknowledged), "RESOLVED RESOLVED QUIET"),
        ("its sender ends it in its sleep", .resolve(.sender), standing(.snoozed), "RESOLVED RESOLVED QUIET"),
        ("what is over stays so", .resolve(.sender), standing(.resolved), "RESOLVED"),
        ("an unknown end is nothing", .resolve(.sender), nil, "refused"),
        ("somebody ends it", .resolve(.person), standing(.open), "RESOLVED RESOLVED QUIET"),
        ("who has it ends it", .resolve(.person), standing(.acknowledged), "RESOLVED RESOLVED QUIET"),
        ("somebody ends it in its sleep", .resolve(.person), standing(.snoozed), "RESOLVED RESOLVED QUIET"),
        ("it is over already", .resolve(.person), standing(.resolved), "RESOLVED"),
        ("time ends it", .resolve(.time), standing(.open), "RESOLVED RESOLVED QUIET"),

        ("it is open already", .reopen(isKeyTaken: false), standing(.open), "refused"),
        ("somebody has it already", .reopen(isKeyTaken: false), standing(.acknowledged), "refused"),
        ("it only sleeps", .reopen(isKeyTaken: false), standing(.snoozed), "refused"),
        ("somebody opens it again", .reopen(isKeyTaken: false), standing(.resolved), "OPEN REOPENED LOUD"),
        ("another has its key", .reopen(isKeyTaken: true), standing(.resolved), "refused"),
    ]

    @Test("each act in each state does what the table says", arguments: cells.indices)
    func cell(_ index: Int) {
        let (name, act, incident, expected) = Self.cells[index]
        let outcome = IncidentMachine(rules: Self.rules).outcome(act, on: incident, at: Self.now)
        #expect(Self.shown(outcome) == expected, "\(name)")
    }

    @Test("where people alone resolve, a sender's end is noted once, until the next trigger")
    func byHand() {
        let machine = IncidentMachine(rules: IncidentRules(isResolvedByHand: true))
        guard
            case .changes(let noted, .senderResolved, .none) = machine.outcome(
                .resolve(.sender),
                on: Self.standing(.acknowledged),
                at: Self.now
            )
        else {
            Issue.record("not noted")
            return
        }
        #expect(noted.state == .acknowledged)
        #expect(Self.shown(machine.outcome(.resolve(.sender), on: noted, at: Self.now)) == "ACKNOWLEDGED")
        guard case .stays(let triggered) = machine.outcome(Self.trigger(), on: noted, at: Self.now) else {
            Issue.record("not counted")
            return
        }
        #expect(
            Self.shown(machine.outcome(.resolve(.sender), on: triggered, at: Self.now))
                == "ACKNOWLEDGED SENDER_RESOLVED NONE"
        )
    }

    @Test("three openings within half an hour flap: one sound in a quarter of an hour, until it rests")
    func flapping() {
        let machine = IncidentMachine(rules: IncidentRules(reopenSeconds: 3600))
        var incident = IncidentStanding(openedAt: Self.now)
        incident.title = "disk"
        var (now, sounds) = (Self.now, [String]())
        func apply(_ act: IncidentAct) {
            guard case .changes(let next, let change, let loudness) = machine.outcome(act, on: incident, at: now) else {
                return
            }
            incident = next
            if change == .reopened { sounds.append(loudness.rawValue) }
        }
        for _ in 1...6 {
            now = now.adding(seconds: 60)
            apply(.resolve(.sender))
            now = now.adding(seconds: 60)
            apply(Self.trigger())
        }
        #expect(incident.isFlapping)
        #expect(sounds == ["LOUD", "LOUD", "QUIET", "QUIET", "QUIET", "QUIET"])
        now = now.adding(seconds: 900)
        apply(.resolve(.sender))
        apply(Self.trigger())
        #expect(sounds.last == "LOUD" && incident.isFlapping)
        now = now.adding(seconds: 1800)
        apply(.resolve(.sender))
        #expect(!incident.isFlapping)
    }

    /// The state alone, by the table: what a reader of it would expect.
    private struct Model {
        var state: IncidentState?
        var owner: String?
        var priority = 0
        var isByPerson = false
        var hasSenderEnded = false
        var endedAt = now

        mutating func apply(_ act: IncidentAct, at now: Timestamp) {
            switch (act, state) {
            case (.trigger(let trigger), nil): open(trigger)
            case (.trigger(let trigger), .resolved?):
                let isOld = now.milliseconds - endedAt.milliseconds >= 300_000
                if isOld || (isByPerson && hasSenderEnded) { return open(trigger) }
                if !isByPerson, !trigger.isLate { open(trigger) }
            case (.trigger(let trigger), let old?):
                if trigger.priority > priority, old == .snoozed { state = .open }
                (priority, hasSenderEnded) = (trigger.priority, false)
            case (.acknowledge(let person), .open?), (.acknowledge(let person), .snoozed?):
                (state, owner) = (.acknowledged, person)
            case (.unacknowledge, .acknowledged?): state = .open
            case (.snooze, .open?), (.snooze, .acknowledged?), (.snooze, .snoozed?): state = .snoozed
            case (.wake, .snoozed?): state = .open
            case (.resolve(let how), .open?), (.resolve(let how), .acknowledged?), (.resolve(let how), .snoozed?):
                (state, isByPerson, endedAt) = (.resolved, how == .person, now)
                if how == .sender { hasSenderEnded = true }
            case (.resolve(.sender), .resolved?): hasSenderEnded = true
            case (.reopen(false), .resolved?): (state, hasSenderEnded) = (.open, false)
            default: break
            }
        }

        private mutating func open(_ trigger: IncidentTrigger) {
            (state, priority, hasSenderEnded, isByPerson) = (.open, trigger.priority, false, false)
        }
    }

    @Test("10,000 random runs end as the table says, and each act twice as once", arguments: [1, 2])
    func randomRuns(times: Int) {
        var random = Seeded(seed: 20_261_128)
        for run in 0..<10_000 {
            var (incident, model, now) = (IncidentStanding?.none, Model(), Self.now)
            for step in 0..<12 {
                now = now.adding(seconds: Double([0, 1, 59, 200, 400].randomElement(using: &random) ?? 0))
                let act = Self.randomAct(&random, now)
                for _ in 0..<times { Self.apply(act, to: &incident, at: now) }
                model.apply(act, at: now)
                guard incident?.state == model.state else {
                    Issue.record("run \(run), step \(step): \(act) left \(String(describing: incident))")
                    return
                }
            }
        }
    }

    private static func apply(_ act: IncidentAct, to incident: inout IncidentStanding?, at now: Timestamp) {
        switch IncidentMachine().outcome(act, on: incident, at: now) {
        case .opens:
            guard case .trigger(let trigger) = act else {
                Issue.record("only triggers open")
                return
            }
            var opened = IncidentStanding(openedAt: now)
            (opened.title, opened.priority) = (trigger.title, trigger.priority)
            incident = opened
        case .stays(let next), .changes(let next, _, _), .settles(let next): incident = next
        case .refused: break
        }
    }

    private static func randomAct(_ random: inout Seeded, _ now: Timestamp) -> IncidentAct {
        switch Int.random(in: 0..<12, using: &random) {
        case 0...3:
            trigger(
                priority: Int.random(in: 3...5, using: &random),
                isLate: Int.random(in: 0..<4, using: &random) == 0
            )
        case 4: .acknowledge(by: ["alice", "bob", nil].randomElement(using: &random) ?? nil)
        case 5: .unacknowledge
        case 6: .snooze(until: now.adding(seconds: 60))
        case 7: .wake
        case 8: .resolve(.sender)
        case 9: .resolve(.person)
        case 10: .resolve(.time)
        default: .reopen(isKeyTaken: false)
        }
    }
}

/// The same numbers each time (SplitMix64).
private struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
