import Metrics
import Synchronization
import Testing
import TocsinCore
import TocsinServer

@Suite("Figures of the last day")
struct SeriesRingTests {
    /// A time of the test's, and what is counted.
    private final class World: TimeSource {
        let seconds = Mutex<Int64>(1_800_000_000)
        let made = Counter()
        let memory = Gauge()
        let taken = Histogram(bounds: [0.001, 0.01, 0.1])
        let answers = Mutex<[String: Int]>(["apns": 0, "fcm": 0])

        func now() -> Timestamp { Timestamp(milliseconds: seconds.withLock(\.self) * 1000) }
        func sleep(until moment: Timestamp) async throws { throw CancellationError() }

        var families: [MetricFamily] {
            let answers = answers.withLock(\.self).map { provider, count in
                MetricSample(labels: metricLabel("provider", provider) + ",status=\"200\"", .integer(count))
            }
            return [
                .counter("made_total", "", made), .gauge("memory_bytes", "", memory.value),
                .histogram("taken_seconds", "", taken), MetricFamily(.counter, "answers_total", "", answers),
            ]
        }

        func makeRing() -> SeriesRing {
            SeriesRing(
                figures: [
                    SeriesFigure(family: "made_total", kind: .rate), SeriesFigure(family: "memory_bytes", kind: .sum),
                    SeriesFigure(family: "taken_seconds", kind: .quantiles),
                    SeriesFigure(family: "answers_total", kind: .rate, by: ["provider"]),
                ],
                time: self
            ) { [self] in families }
        }

        /// A round after so many seconds.
        func look(_ ring: SeriesRing, after seconds: Int64 = 15) {
            self.seconds.withLock { $0 += seconds }
            ring.look()
        }

        /// The points of a series that has so many seconds.
        func points(_ ring: SeriesRing, _ name: String, last: Int64 = 60, step: Int = 15) throws -> [[Double]] {
            try ring.series([name], since: now().adding(seconds: Double(-last)), step: step).map(\.points)
        }
    }

    private static func said(_ points: [Double]) -> [String] { points.map { "\($0)" } }

    @Test("of a counter it is kept how much it rises a second, from the second reading on")
    func rates() throws {
        let world = World()
        let ring = world.makeRing()
        world.made.add(1000)
        for count in [0, 30, 0, 15] {
            world.made.add(count)
            world.look(ring)
        }
        let points = try #require(try world.points(ring, "made_total", last: 45).first)
        #expect(Self.said(points) == ["nan", "2.0", "0.0", "1.0"])
    }

    @Test("of times it is kept what half, and all but a hundredth, stayed below in each 15 seconds")
    func quantiles() throws {
        let world = World()
        let ring = world.makeRing()
        world.look(ring)
        for _ in 0..<98 { world.taken.record(seconds: 0.0005) }
        for _ in 0..<2 { world.taken.record(seconds: 0.05) }
        world.look(ring)
        world.look(ring)
        let series = try ring.series(["taken_seconds"], since: world.now().adding(seconds: -30), step: 15)
        #expect(series.map(\.labels) == ["quantile=\"0.5\"", "quantile=\"0.99\""])
        #expect(series.map { Self.said($0.points)[0] } == ["nan", "nan"])
        #expect(series.map { Self.said($0.points)[2] } == ["nan", "nan"], "nothing took time then")
        #expect(abs(series[0].points[1] - 0.00051) < 0.00001, "\(series[0].points)")
        #expect(abs(series[1].points[1] - 0.055) < 0.001, "\(series[1].points)")
    }

    @Test("a round that was left out is a gap, and what rises begins anew behind it")
    func gaps() throws {
        let world = World()
        let ring = world.makeRing()
        world.memory.set(5)
        world.look(ring)
        world.made.add(15)
        world.look(ring, after: 45)
        world.made.add(15)
        world.look(ring)
        #expect(Self.said(try world.points(ring, "memory_bytes")[0]) == ["5.0", "nan", "nan", "5.0", "5.0"])
        #expect(Self.said(try world.points(ring, "made_total")[0]) == ["nan", "nan", "nan", "nan", "1.0"])
    }

    @Test("a day is kept, and longer steps have the mean of a figure")
    func wrapping() throws {
        let world = World()
        let ring = world.makeRing()
        for round in 0..<6000 {
            world.memory.set(round)
            world.look(ring)
        }
        let day = try world.points(ring, "memory_bytes", last: 2 * 86_400, step: 15)[0]
        #expect(day.count == 5760)
        #expect(day.first == 240)
        #expect(day.last == 5999)
        let steps = try ring.series(["memory_bytes"], since: world.now().adding(seconds: -3600), step: 300)
        #expect(steps.first?.points.count == 13)
        #expect((steps.first?.since.milliseconds ?? 1) % 300_000 == 0)
        let inner = try #require(steps.first?.points.dropFirst().dropLast())
        #expect(zip(inner, inner.dropFirst()).allSatisfy { $1 - $0 == 20 }, "\(inner)")
    }

    @Test("more points than may be given at once are refused in words")
    func tooMany() throws {
        let world = World()
        let ring = world.makeRing()
        for _ in 0..<5760 { world.look(ring) }
        let names = ["made_total", "memory_bytes", "taken_seconds"]
        let since = world.now().adding(seconds: -86_400)
        #expect(
            throws: ServiceError.badInput("More than 20000 points: ask for a longer step, or for fewer names.")
        ) { try ring.series(names, since: since, step: 15) }
        #expect(try ring.series(names, since: since, step: 30).count == 4)
    }

    @Test("answers that never come take no place, and begin with the first")
    func answers() throws {
        let world = World()
        let ring = world.makeRing()
        world.look(ring)
        world.answers.withLock { $0["fcm"] = 30 }
        world.look(ring)
        let series = try ring.series(["answers_total"], since: world.now().adding(seconds: -15), step: 15)
        #expect(series.map(\.labels) == ["provider=\"fcm\""])
        #expect(Self.said(try #require(series.first).points) == ["nan", "2.0"])
    }

    @Test("a clock that was set back makes it begin anew")
    func backwards() throws {
        let world = World()
        let ring = world.makeRing()
        for _ in 0..<4 { world.look(ring) }
        world.look(ring, after: -3600)
        #expect(try world.points(ring, "memory_bytes")[0].filter { !$0.isNaN } == [0])
    }

    @Test("steps that do not fit, and names that are not kept, are refused in words", arguments: [0, -15, 20, 86_415])
    func refusals(step: Int) throws {
        let ring = World().makeRing()
        #expect(throws: ServiceError.badInput("step must be a multiple of 15, in seconds, and at most 86400.")) {
            try ring.series(["made_total"], since: Timestamp(milliseconds: 0), step: step)
        }
        let known = "answers_total, made_total, memory_bytes, taken_seconds"
        #expect(throws: ServiceError.badInput("No series \"up\" is kept here. Those that are: \(known).")) {
            try ring.series(["up"], since: Timestamp(milliseconds: 0), step: 15)
        }
    }
}
