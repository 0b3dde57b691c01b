import Metrics
import Synchronization
import TocsinCore

/// Figures that only the database knows: read every 15 seconds by one node for all, so that no
/// scrape asks the database.
///
/// Other nodes leave them out. A round that fails leaves those of before, and their age grows.
final class MetricsRefresh: MetricSource {
    /// Reads figures; it must take little time however much is stored.
    typealias Query = @Sendable (any StoreReader) throws(StoreError) -> [MetricFamily]

    private struct State {
        var queries: [Query] = []
        /// nil while this node does not read them.
        var found: (families: [MetricFamily], at: Timestamp)?
    }

    private let state = Mutex(State())
    private let connection = Mutex<(any Store)?>(nil)
    private let time: any TimeSource
    private static let pauseSeconds = 15.0

    init(time: any TimeSource) { self.time = time }

    /// Has this read from the next round on.
    func add(_ query: @escaping Query) { state.withLock { $0.queries.append(query) } }

    /// Reads from this store.
    func connect(_ store: any Store) { connection.withLock { $0 = store } }

    /// Reads again and again until it is cancelled; then this node tells nothing of them.
    func run() async {
        while !Task.isCancelled {
            await read()
            try? await time.sleep(until: time.now().adding(seconds: Self.pauseSeconds))
        }
        state.withLock { $0.found = nil }
    }

    /// One round.
    func read() async {
        guard let store = connection.withLock(\.self) else { return }
        let queries = state.withLock(\.queries)
        do throws(StoreError) {
            let families = try await store.read { reader throws(StoreError) in
                var families: [MetricFamily] = []
                for query in queries { families += try query(reader) }
                return families
            }
            let now = time.now()
            state.withLock { $0.found = (families, now) }
        } catch {
            // The store has said so; the age says it here.
        }
    }

    var families: [MetricFamily] {
        let found = state.withLock(\.found)
        let age = found.map { max(0, Double(time.now().milliseconds - $0.at.milliseconds) / 1000) }
        return (found?.families ?? []) + [
            .gauge(
                "tocsin_metrics_refresh_age_seconds",
                "Age of the figures that are read from the database, on the node that reads them for all",
                age
            )
        ]
    }
}
