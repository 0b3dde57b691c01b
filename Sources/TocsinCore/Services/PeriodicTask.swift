/// Work that is done at once and then again and again, such as removing what is over.
package struct PeriodicTask: Sendable {
    /// What the log says when a round fails, such as "old messages could not be removed".
    package let failure: String
    /// What operators know it by.
    package let job: Job
    private let periodSeconds: Double
    private let round: @Sendable () async throws(ServiceError) -> Int?

    /// Work of so many seconds from the end of one round to the next.
    ///
    /// `failure` is what the log says of a round that fails. A round answers how many rows it
    /// removed, or nil where it failed and that has been said already.
    package init(
        _ job: Job,
        everySeconds periodSeconds: Double,
        failure: String,
        _ round: @escaping @Sendable () async throws(ServiceError) -> Int?
    ) {
        self.job = job
        self.periodSeconds = periodSeconds
        self.failure = failure
        self.round = round
    }

    /// Does a round now and one after each period, until the task is cancelled.
    ///
    /// A round that fails is reported, and the next one comes as usual. One that the cancelling
    /// cuts short is not.
    package func run(
        by time: any TimeSource,
        counting metrics: JobMetrics? = nil,
        report: @Sendable (ServiceError) -> Void
    ) async {
        metrics?.begin(job, everySeconds: periodSeconds)
        while !Task.isCancelled {
            do throws(ServiceError) {
                if let rows = try await round() {
                    metrics?.done(job, removing: rows, at: time.now())
                } else {
                    metrics?.failed(job)
                }
            } catch {
                // What a stop cuts short is no failure.
                guard !Task.isCancelled else { return }
                metrics?.failed(job)
                report(error)
            }
            guard (try? await time.sleep(until: time.now().adding(seconds: periodSeconds))) != nil else { return }
        }
    }
}
