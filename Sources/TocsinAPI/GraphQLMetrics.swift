import GraphQL
import GraphQLTransport
package import Metrics
import TocsinCore

/// Counts operations, their errors, what they published, and documents that were named.
package final class GraphQLMetrics: Sendable {
    /// What kind of operation ran.
    enum Operation: String, MetricLabel {
        static let labelName = "operation"
        case query, mutation, subscription
    }

    /// How it ended.
    enum Outcome: String, MetricLabel {
        static let labelName = "outcome"
        case ok, errors
        case requestError = "request_error"
        /// Its time was over, or whoever asked had gone.
        case timeout
    }

    /// What became of a request that published.
    enum Publish: String, MetricLabel {
        static let labelName = "result"
        case created, repeated, conflict, refused, unavailable
    }

    /// What became of a document that a request named.
    enum Lookup: String, MetricLabel {
        static let labelName = "result"
        case hit, miss, refused
    }

    /// A code of `schema/errors.md`; nil for errors without one.
    struct Code: MetricLabels {
        let code: ErrorCode?

        static var allCases: [Code] { ErrorCode.allCases.map { Code(code: $0) } + [Code(code: nil)] }

        var labels: String { metricLabel("code", code?.rawValue ?? "other") }
    }

    private let durations = HistogramSet<LabelPair<Operation, Outcome>>(bounds: Histogram.fast)
    private let publishes = HistogramSet<Publish>(bounds: Histogram.fast)
    /// Of operations that ran well, which are nearly all.
    private let queries: Histogram
    private let mutations: Histogram
    private let created: Histogram
    private let errors = CounterSet<Code>()
    private let lookups = CounterSet<Lookup>()
    /// The mutation whose requests are publishes.
    static let publishField = "createMessage"

    /// Counts of 0.
    package init() {
        queries = durations[LabelPair(.query, .ok)]
        mutations = durations[LabelPair(.mutation, .ok)]
        created = publishes[.created]
    }

    /// An operation of a request that was read at `asked` has run from `begun` until now.
    func note(
        _ kind: OperationKind,
        _ result: ExecutionResult,
        _ published: HeldRecords.Publishing,
        asked: ContinuousClock.Instant,
        begun: ContinuousClock.Instant
    ) {
        let now = ContinuousClock.now
        switch (kind, result.hadErrors) {
        case (.query, false): queries.record(now - begun)
        case (.mutation, false): mutations.record(now - begun)
        case (.query, true): durations[LabelPair(.query, outcome(of: result))].record(now - begun)
        case (.mutation, true): durations[LabelPair(.mutation, outcome(of: result))].record(now - begun)
        case (.subscription, _): break
        }
        if result.hadErrors { note(result) }
        switch published {
        case .none: break
        case .created: created.record(now - asked)
        case .repeated: publishes[.repeated].record(now - asked)
        case .failed: publishes[Self.publish(failingBy: result.errors)].record(now - asked)
        }
    }

    private func outcome(of result: ExecutionResult) -> Outcome {
        if Task.isCancelled { return .timeout }
        return result.requestErrors == nil ? .errors : .requestError
    }

    private func note(_ result: ExecutionResult) {
        if let refused = result.requestErrors { return note(refused) }
        for error in result.errors { errors[Code(error)].add() }
    }

    /// A request was refused before anything of it ran.
    func note(_ refused: RequestErrors) {
        for error in refused.errors {
            errors[error.extensions["code"] == nil ? Code(code: refused.code) : Code(error)].add()
        }
    }

    /// Subscribing has taken from `begun` until now.
    func noteSubscribed(_ refused: RequestErrors?, begun: ContinuousClock.Instant) {
        if let refused { note(refused) }
        durations[LabelPair(.subscription, refused == nil ? .ok : .requestError)].record(.now - begun)
    }

    /// A request was refused because its caller asks too often, or has lost access.
    func noteRefused(_ code: ErrorCode, publishing: Bool, asked: ContinuousClock.Instant) {
        errors[Code(code: code)].add()
        if publishing { publishes[.refused].record(.now - asked) }
    }

    /// A request named its document.
    func note(_ lookup: Lookup) { lookups[lookup].add() }

    private static func publish(failingBy errors: [GraphQLError]) -> Publish {
        switch errors.first.flatMap({ Code($0).code }) {
        case .conflict, .conditionFailed, .versionConflict: .conflict
        case .unavailable, .timeout, .internal, nil: .unavailable
        default: .refused
        }
    }

    /// The figures of now, but for those of caches.
    var families: [MetricFamily] {
        [
            .histogram("tocsin_graphql_duration_seconds", "Execution of operations, without transport", durations),
            .counter("tocsin_graphql_errors_total", "Errors in responses, by code", errors),
            .histogram(
                "tocsin_publish_duration_seconds",
                "Requests that create messages, from read to answered",
                publishes
            ),
            .counter("tocsin_persisted_documents_total", "Requests that named their document", lookups),
        ]
    }
}

extension GraphQLMetrics.Code {
    fileprivate init(_ error: GraphQLError) {
        code = error.extensions["code"]?.stringValue.flatMap(ErrorCode.init)
    }
}

extension TocsinGraphQL: MetricSource {
    private enum CacheResult: String, MetricLabel {
        static let labelName = "result"
        case hit, miss, evicted, rejected
    }

    private enum Kept: String, MetricLabel {
        static let labelName = "kind"
        case stored, trusted
    }

    /// The figures of now.
    package var families: [MetricFamily] {
        let plans = executor.planStatistics
        return metrics.families + [
            MetricFamily(
                .counter,
                "tocsin_graphql_plan_cache_total",
                "What the cache of plans did",
                CacheResult.allCases.map { result in
                    let value =
                        switch result {
                        case .hit: plans.hits
                        case .miss: plans.misses
                        case .evicted: plans.evicted
                        case .rejected: plans.rejected
                        }
                    return MetricSample(labels: result.labels, .integer(value))
                }
            ),
            .gauge("tocsin_graphql_plans", "Plans that are kept", plans.plans),
            .gauge("tocsin_graphql_plan_bytes", "Memory that kept plans take, roughly", plans.bytes),
            .gauge("tocsin_persisted_documents_kept", "Documents that may be named", by: Kept.self) { kept in
                .integer(kept == .stored ? documents.value.storedCount : documents.value.trustedCount)
            },
        ]
    }
}
