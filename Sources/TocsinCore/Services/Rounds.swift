extension TimeSource {
    /// Does a round at once and then every so many seconds, until the task is cancelled; what fails is told and tried again.
    func rounds(
        everySeconds seconds: Double,
        report: @Sendable (ServiceError) -> Void,
        _ round: () async throws(ServiceError) -> Void
    ) async {
        while !Task.isCancelled {
            do throws(ServiceError) {
                try await round()
            } catch {
                report(error)
            }
            guard (try? await sleep(until: now().adding(seconds: seconds))) != nil else { return }
        }
    }
}
