import NIOCore
import Synchronization

/// What can be done to the fake providers while they run, by a program or by the control address.
final class ProviderControls: Sendable {
    let conditions: Conditions
    let recorder: Recorder
    let connections = ConnectionList()
    private let ports = Mutex<[SimulatedProvider: ProviderPort]>([:])
    private let initialScript: SimulatorScript?

    init(settings: SimulatorSettings, recorder: Recorder) {
        conditions = Conditions(settings: settings)
        self.recorder = recorder
        initialScript = settings.script
        if let script = settings.script { conditions.apply(script) }
    }

    func add(_ port: ProviderPort, of provider: SimulatedProvider) {
        ports.withLock { $0[provider] = port }
    }

    /// Begins an outage, which ends by itself after `seconds` if they are
    /// given, or ends it with `nil`.
    func setOutage(_ outage: Outage?, of provider: SimulatedProvider, seconds: Double? = nil) {
        conditions.setOutage(outage, of: provider, seconds: seconds)
        let port = ports.withLock { $0[provider] }
        if outage == .refused {
            port?.close(seconds: seconds)
        } else {
            port?.reopen()
        }
        if outage == .refused || outage == .tls { _ = connections.tell(.cut, to: provider) }
    }

    /// Puts a script in force, and tells open connections of new limits.
    func apply(_ script: SimulatorScript) {
        let before = conditions.limits
        conditions.apply(script)
        announceLimits(before)
    }

    /// Tells a provider's connections; returns how many there are.
    func tell(_ order: ConnectionOrder, to provider: SimulatedProvider) -> Int {
        connections.tell(order, to: provider)
    }

    func setOnline(_ online: Bool, token: String) { recorder.setOnline(online, token: token) }

    /// Forgets pushes, counts and screens, ends outages, and goes back to the script of the start.
    func reset() {
        let before = conditions.limits
        conditions.reset()
        if let initialScript { conditions.apply(initialScript) }
        announceLimits(before)
        for port in ports.withLock({ Array($0.values) }) { port.reopen() }
        recorder.reset()
    }

    private func announceLimits(_ before: SimulatorLimits) {
        let after = conditions.limits
        for provider in [SimulatedProvider.apns, .fcm] where before[provider] != after[provider] {
            _ = connections.tell(.limits(after[provider]), to: provider)
        }
    }

    /// Closes ports and connections for good.
    func stop() async {
        for port in ports.withLock({ Array($0.values) }) { await port.stop() }
        await close(connections.all)
    }

    /// Cuts all connections, as a network fault would; the ports stay open.
    func cutConnections() async { await close(connections.all) }

    private func close(_ channels: [any Channel]) async {
        for channel in channels {
            // A channel that closed on its own meanwhile is as good as closed.
            _ = try? await channel.close().get()
        }
    }
}
