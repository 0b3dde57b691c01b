import Metrics
import Testing

@Suite("Counters and histograms")
struct CountingTests {
    @Test("many threads count without losing one")
    func countersAreExact() async {
        let counter = Counter()
        let histogram = Histogram(bounds: Histogram.fast)
        await withDiscardingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<1000 {
                        counter.add()
                        histogram.record(seconds: 0.25)
                    }
                }
            }
        }
        #expect(counter.value == 8000)
        #expect(histogram.snapshot.count == 8000)
        #expect(histogram.snapshot.sum == 2000)
    }

    @Test("a counter takes more than one at a time")
    func counterAddsMany() {
        let counter = Counter()
        counter.add(40)
        counter.add(2)
        #expect(counter.value == 42)
    }

    @Test("a value falls into the bucket whose bound it does not pass")
    func bucketsIncludeTheirBounds() {
        let histogram = Histogram(bounds: [1, 2])
        for seconds: Double in [0.5, 1, 1.5, 2, 2.5, 1e9] { histogram.record(seconds: seconds) }
        #expect(histogram.snapshot.counts == [2, 2, 2])
    }

    @Test("what is no length of time counts as 0", arguments: [-1.0, -Double.infinity, Double.nan])
    func oddValues(seconds: Double) {
        let histogram = Histogram(bounds: [1])
        histogram.record(seconds: seconds)
        #expect(histogram.snapshot.counts == [1, 0])
        #expect(histogram.snapshot.sum == 0)
    }

    @Test("durations and sizes are recorded in seconds and as they are")
    func durationsAndSizes() {
        let histogram = Histogram(bounds: Histogram.http)
        histogram.record(.milliseconds(1500))
        #expect(histogram.snapshot.sum == 1.5)
        let sizes = Histogram(bounds: Histogram.sizes)
        sizes.record(size: 3)
        #expect(sizes.snapshot.counts.prefix(4) == [0, 0, 1, 0])
    }

    @Test("all bounds fit", arguments: [Histogram.fast, Histogram.push, Histogram.http, Histogram.sizes])
    func boundsFit(bounds: [Double]) {
        let histogram = Histogram(bounds: bounds)
        for bound in bounds { histogram.record(seconds: bound) }
        histogram.record(seconds: 1e9)
        #expect(histogram.snapshot.counts == bounds.map { _ in 1 } + [1])
        #expect(bounds == bounds.sorted())
    }
}
