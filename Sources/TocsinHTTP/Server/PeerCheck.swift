import Glibc
import NIOCore

/// Which users' processes may speak over a socket of the file system (`SO_PEERCRED`).
enum PeerCheck {
    /// What the kernel says of a process that connected: `struct ucred` of unix(7).
    private struct Credentials: Sendable {
        var process: Int32
        var user: UInt32
        var group: UInt32
    }

    /// Fails for a connection of a process that may not speak.
    static func passes(
        _ channel: any Channel,
        _ admits: @escaping @Sendable (_ user: UInt32) -> Bool
    ) -> EventLoopFuture<Void> {
        guard let options = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        let peer: EventLoopFuture<Credentials> = options.unsafeGetSocketOption(
            level: .socket,
            name: NIOBSDSocket.Option(rawValue: SO_PEERCRED)
        )
        return peer.flatMapThrowing { peer in
            guard admits(peer.user) else { throw ChannelError.ioOnClosedChannel }
        }
    }
}
