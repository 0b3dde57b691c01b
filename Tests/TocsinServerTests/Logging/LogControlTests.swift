import Glibc
import Logging
import Synchronization
import Testing
import TocsinCore
import TocsinServer

@Suite("The level of the log while the server runs")
struct LogControlTests {
    private final class Clock: TimeSource {
        private let milliseconds = Mutex<Int64>(1_000_000)

        func now() -> Timestamp { Timestamp(milliseconds: milliseconds.withLock { $0 }) }
        func sleep(until moment: Timestamp) async throws { throw CancellationError() }
        func advance(seconds: Int64) { milliseconds.withLock { $0 += 1000 * seconds } }
    }

    private final class News: Sendable {
        let all = Mutex<[LogControl.News]>([])
    }

    private let clock = Clock()
    private let news = News()
    private let control: LogControl

    init() {
        let news = news
        control = LogControl(.info, time: clock) { one in news.all.withLock { $0.append(one) } }
    }

    private var levels: Set<Logger.Level> { Set(LogLabel.allCases.map { control.level(of: $0) }) }

    @Test("another level holds for its time and goes back by itself, and both are told")
    func goesBack() {
        control.setLevel(.debug, for: .seconds(60))
        #expect(levels == [.debug])
        clock.advance(seconds: 59)
        control.expire()
        #expect(levels == [.debug])
        clock.advance(seconds: 1)
        control.expire()
        control.expire()
        #expect(levels == [.info])
        #expect(news.all.withLock { $0 } == [.changed(.debug, only: nil, seconds: 60), .back(.info)])
    }

    @Test("one part may tell more, or less, than the others")
    func onePart() {
        control.setLevel(.trace, for: .seconds(60), only: .push)
        control.setLevel(.error, for: .seconds(120), only: .http)
        #expect(control.level(of: .push) == .trace && control.level(of: .http) == .error)
        #expect(control.level(of: .store) == .info)
        clock.advance(seconds: 60)
        control.expire()
        #expect(control.level(of: .push) == .info && control.level(of: .http) == .error)
    }

    @Test("each SIGUSR1 tells one step more, up to all there is; SIGUSR2 takes it back")
    func steps() {
        control.raise()
        #expect(levels == [.debug])
        control.raise()
        control.raise()
        #expect(levels == [.trace])
        control.reset()
        #expect(levels == [.info])
    }

    @Test("the level of the settings may be another one, and what differs for a while goes on to its end")
    func usual() {
        control.setLevel(.debug, for: .seconds(60), only: .api)
        control.setUsual(.warning)
        #expect(control.level(of: .api) == .debug && control.level(of: .http) == .warning)
        clock.advance(seconds: 60)
        control.expire()
        #expect(levels == [.warning])
    }

    @Test("an order by words is carried out, at most for a day")
    func words() throws {
        try control.setLevel(named: "DEBUG", for: "2m", only: "sign-in")
        #expect(control.level(of: .signIn) == .debug && control.level(of: .http) == .info)
        control.setLevel(.trace, for: .seconds(1_000_000))
        #expect(news.all.withLock { $0.last } == .changed(.trace, only: nil, seconds: 86_400))
    }

    @Test(
        "an order that makes no sense says what to write, and changes nothing",
        arguments: [
            ("loud", nil, nil, "trace, debug"), ("debug", "10", nil, "10m"), ("debug", "25h", nil, "24h"),
            ("debug", "-1m", nil, "10m"), ("debug", "", nil, "10m"), ("debug", "1m", "pushes", "push, webhooks"),
            ("debug", "99999999999999999999h", nil, "10m"),
        ] as [(String, String?, String?, String)]
    )
    func nonsense(level: String, time: String?, only: String?, hint: String) {
        do throws(LogOrderProblem) {
            try control.setLevel(named: level, for: time, only: only)
            Issue.record("it was taken")
        } catch {
            #expect(error.description.contains(hint), "\(error)")
        }
        #expect(levels == [.info])
    }

    @Test("what a logger is given becomes a line with its event and node, in which numbers are numbers")
    func logger() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        let output = LogOutput(descriptor: writing) { _ in [] }
        let destination = LogDestination(output: output, style: LogStyle(.json, node: "a"))
        let log = ServerLog(.info, time: clock, to: destination)
        let logger = log.logger(.push)
        logger.debug("unseen", metadata: ["event": "unseen"])
        log.control.setLevel(.debug, for: .seconds(60), only: .push)
        logger.debug(
            "seen",
            metadata: ["event": "seen", "count": .stringConvertible(3), "ms": .stringConvertible(0.5)]
        )
        log.logger(.http).debug("unseen", metadata: ["event": "unseen"])
        output.flush(within: .seconds(60))
        close(writing)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(reading, &bytes, bytes.count)
        close(reading)
        let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 2 && !lines.contains { $0.contains("unseen") }, "\(lines)")
        #expect(lines.first?.contains("\"event\":\"log_level_changed\"") == true, "\(lines)")
        #expect(
            lines.last?.hasSuffix(
                #""level":"debug","event":"seen","message":"seen","node":"a","count":3,"ms":0.5}"#
            ) == true,
            "\(lines)"
        )
    }
}
