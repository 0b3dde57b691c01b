import NIOCore
import Synchronization

/// The open connections of all listeners, so that they can be told something, or closed.
final class ConnectionList: Sendable {
    private let channels = Mutex<[ObjectIdentifier: (channel: any Channel, provider: SimulatedProvider?)]>([:])

    var all: [any Channel] { channels.withLock { $0.values.map(\.channel) } }

    /// A provider's connections; those of the control address belong to none.
    func of(_ provider: SimulatedProvider) -> [any Channel] {
        channels.withLock { $0.values.filter { $0.provider == provider }.map(\.channel) }
    }

    func add(_ channel: any Channel, _ provider: SimulatedProvider?) {
        let id = ObjectIdentifier(channel)
        channels.withLock { $0[id] = (channel, provider) }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.channels.withLock { $0[id] = nil }
        }
    }

    /// Tells each of a provider's connections; returns how many there are.
    func tell(_ order: ConnectionOrder, to provider: SimulatedProvider) -> Int {
        let channels = of(provider)
        for channel in channels { channel.pipeline.fireUserInboundEventTriggered(order) }
        return channels.count
    }
}
