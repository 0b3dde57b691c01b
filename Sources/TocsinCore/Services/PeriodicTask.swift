/// Work that is done at once and then again and again, such as removing what is over.
package struct PeriodicTask: Sendable {
    /// What the log says when a round fails, such as "old messages could not be removed".
    package let failure: String
    private let periodSeconds: Double
    private let round: @Sendable () async throws(ServiceError) -> Void

    /// Work of so many seconds from the end of one round to the next.
    ///
    /// `failure` is what the log says of a round that fails.
    package init(
        everySeconds periodSeconds: Double,
        failure: String,
        _ round: @escaping @Sendable () async throws(ServiceError) -> Void
    ) {
        self.periodSeconds = periodSeconds
        self.failure = failure
        self.round = round
    }

    /// Does a round now and one after each period, until the task is cancelled; a round that fails
    /// is reported, and the next one comes as usual.
    package func run(by time: any TimeSource, report: @Sendable (ServiceError) -> Void) async {
        while !Task.isCancelled {
            do throws(ServiceError) {
                try await round()
            } catch {
                report(error)
            }
            guard (try? await time.sleep(until: time.now().adding(seconds: periodSeconds))) != nil else { return }
        }
    }
}
