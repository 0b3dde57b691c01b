import CNATS
import Glibc
package import TocsinCore

/// A doorbell over NATS, for more nodes than PostgreSQL's `NOTIFY` carries: a subject on
/// which nodes publish who rang.
///
/// The library connects, finds the cluster's other servers and reconnects without end. It gathers
/// what is published in a short while into one write. Nothing is stored; the journal's poll makes
/// up for a lost ring.
package final class NATSDoorbell: Doorbell {
    /// Why the doorbell cannot be made.
    package struct SetupError: Error, Sendable, CustomStringConvertible {
        /// What is wrong with the servers' URLs or the library, and what to do.
        package let description: String
    }

    /// Subject of all rings; another deployment's on the same servers only cost a look.
    private static let subject = "tocsin.doorbell"
    private static let reconnectMilliseconds: Int64 = 250
    private static let pingMilliseconds: Int64 = 5000
    private let servers: [String]
    private let instance: String
    private let line = NATSLine()

    /// A doorbell at the servers of a list like `nats://host:4222,nats://other:4222`; what
    /// is behind them is found.
    package init(urls: String, instance: String) throws(SetupError) {
        servers = urls.split(separator: ",").map { String($0.trimmingPrefix(while: \.isWhitespace)) }
        guard !servers.isEmpty, servers.allSatisfy({ $0.hasPrefix("nats://") || $0.hasPrefix("tls://") }) else {
            throw SetupError(description: "write nats://HOST:PORT, or several with commas between")
        }
        self.instance = instance
    }

    /// How the line to the servers is.
    package var state: DoorbellState { line.state }

    /// Each goes out by itself: a ring costs little here, and the library gathers them.
    package func ring(_ haste: RingHaste) { line.publish(instance, on: Self.subject) }

    /// Rings, which is all that others have to know.
    package func greet() { ring() }

    /// Whoever is there or not, rings go out: with one that comes this costs nothing, and
    /// without any next to nothing.
    package func note(othersLive: Bool) {}

    /// Connects, and calls `onRing` for every ring heard, until the task is cancelled.
    package func run(onRing: @escaping @Sendable () -> Void) async {
        let closure = Unmanaged.passRetained(NATSCallback(line: line, onRing: onRing))
        let (forever, _) = AsyncStream<Void>.makeStream()
        while !Task.isCancelled {
            if let connection = connect(closure) {
                line.open(connection)
                // Ends with the task.
                for await _ in forever {}
                line.close()
                return
            }
            try? await Task.sleep(for: .milliseconds(Self.reconnectMilliseconds))
        }
    }

    /// A connection that is there or will be, whenever a server can be reached; nil when the
    /// library has none to give.
    private func connect(_ closure: Unmanaged<NATSCallback>) -> OpaquePointer? {
        var options: OpaquePointer?
        guard natsOptions_Create(&options) == NATS_OK else { return nil }
        defer { natsOptions_Destroy(options) }
        let raw = closure.toOpaque()
        var names: [UnsafePointer<CChar>?] = servers.map { UnsafePointer(strdup($0)) }
        defer { for name in names { free(UnsafeMutablePointer(mutating: name)) } }
        natsOptions_SetServers(options, &names, Int32(names.count))
        natsOptions_SetName(options, "tocsin")
        natsOptions_SetNoEcho(options, true)
        natsOptions_SetMaxReconnect(options, -1)
        natsOptions_SetReconnectWait(options, Self.reconnectMilliseconds)
        natsOptions_SetPingInterval(options, Self.pingMilliseconds)
        natsOptions_SetMaxPingsOut(options, 2)
        natsOptions_SetDisconnectedCB(options, { _, closure in NATSCallback.of(closure)?.lost() }, raw)
        natsOptions_SetReconnectedCB(options, { _, closure in NATSCallback.of(closure)?.returned() }, raw)
        natsOptions_SetRetryOnFailedConnect(options, true, { _, closure in NATSCallback.of(closure)?.returned() }, raw)
        // Without one the library writes errors to the standard error.
        natsOptions_SetErrorHandler(options, { _, _, _, _ in }, nil)
        var connection: OpaquePointer?
        let status = natsConnection_Connect(&connection, options)
        guard status == NATS_OK || status == NATS_NOT_YET_CONNECTED, let connection else {
            line.note(trouble: String(cString: natsStatus_GetText(status)))
            return nil
        }
        var subscription: OpaquePointer?
        let heard = natsConnection_Subscribe(
            &subscription,
            connection,
            Self.subject,
            { _, _, message, closure in
                natsMsg_Destroy(message)
                NATSCallback.of(closure)?.heard()
            },
            raw
        )
        guard heard == NATS_OK else {
            natsConnection_Destroy(connection)
            return nil
        }
        line.note(trouble: status == NATS_OK ? nil : "no server of the list can be reached")
        return connection
    }
}

/// What the library's callbacks reach, on its threads.
///
/// Never let go: the library may call back for a moment after it was told to end. One
/// for each run of a doorbell.
private final class NATSCallback: Sendable {
    private let line: NATSLine
    private let onRing: @Sendable () -> Void

    init(line: NATSLine, onRing: @escaping @Sendable () -> Void) {
        self.line = line
        self.onRing = onRing
    }

    static func of(_ closure: UnsafeMutableRawPointer?) -> NATSCallback? {
        closure.map { Unmanaged<NATSCallback>.fromOpaque($0).takeUnretainedValue() }
    }

    func heard() {
        line.noteHeard()
        onRing()
    }

    func lost() { line.note(trouble: "the connection was lost") }

    /// Something may have been rung meanwhile.
    func returned() {
        line.note(trouble: nil)
        onRing()
    }
}
