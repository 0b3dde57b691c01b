/// Looks at monitors when something of them is due.
package struct MonitorEffect: TimerEffect {
    private let service: MonitorService

    /// An effect of this service.
    package init(_ service: MonitorService) { self.service = service }

    /// Those of monitors.
    package let kinds: Set<TimerEntry.Kind> = [.monitor]

    /// Decides how the monitor stands, tells of it, and sets its next timer.
    package func fire(_ timer: TimerEntry, now: Timestamp) async throws(ServiceError) {
        try await service.look(timer)
    }

    /// Notes every few seconds that pings can arrive.
    package var watch: PeriodicTask {
        let service = service
        return PeriodicTask(
            .monitorWatch,
            everySeconds: MonitorWatch.periodSeconds,
            failure: "it could not be noted that monitors are watched"
        ) { () async throws(ServiceError) in
            do throws(ServiceError) {
                try await service.noteWatch()
                return 0
            } catch .unavailable {
                // The store has said so.
                return nil
            }
        }
    }
}
