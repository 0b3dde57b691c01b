package import TocsinCore

/// What the service manager is told again and again: how much the server has to do, and, where it
/// asks for that, that the server still works.
package struct ServiceReports: Sendable {
    private let notifier: ServiceNotifier
    private let time: any TimeSource
    private let isLive: @Sendable () async -> Bool
    private let status: @Sendable () -> String

    private static let pauseSeconds = 10.0

    /// - Parameters:
    ///   - isLive: The check of `/livez`; where it fails, the manager hears no sign of life and
    ///     starts the server anew.
    ///   - status: One line.
    package init(
        notifier: ServiceNotifier,
        time: any TimeSource,
        isLive: @escaping @Sendable () async -> Bool,
        status: @escaping @Sendable () -> String
    ) {
        self.notifier = notifier
        self.time = time
        self.isLive = isLive
        self.status = status
    }

    /// Tells until it is cancelled.
    package func run() async {
        guard notifier.isHeard else { return }
        // Half the time, as sd_watchdog_enabled(3) recommends.
        let pause = min(Self.pauseSeconds, notifier.watchdogSeconds.map { $0 / 2 } ?? Self.pauseSeconds)
        while !Task.isCancelled {
            if notifier.watchdogSeconds != nil, await isLive() {
                notifier.alive(status: status())
            } else {
                notifier.status(status())
            }
            try? await time.sleep(until: time.now().adding(seconds: pause))
        }
    }
}

extension ServiceNotifier {
    private static let holdSeconds = 10.0
    /// What a start may take longer than the manager allows, counted from each time it is said.
    private static let startExtension = Duration.seconds(60)

    /// Says what takes long at the start, and that it may, until the task is cancelled.
    func holdStart(because status: String, time: any TimeSource) -> Task<Void, Never> {
        extendTimeout(Self.startExtension)
        self.status(status)
        return Task {
            while isHeard, !Task.isCancelled {
                try? await time.sleep(until: time.now().adding(seconds: Self.holdSeconds))
                if !Task.isCancelled { extendTimeout(Self.startExtension) }
            }
        }
    }
}
