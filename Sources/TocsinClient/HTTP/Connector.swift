import Glibc
import NIOCore
import NIOPosix
import NIOSSL

/// Opens connections to one server, encrypted where its address says so.
struct Connector: Sendable {
    let address: ServerAddress
    private let group: any EventLoopGroup
    private let tls: NIOSSLContext?
    private let pins: PinnedKeys
    private let connectTimeout: TimeAmount

    init(address: ServerAddress, settings: ClientSettings) throws(ClientError) {
        self.address = address
        // NIO's own shared threads: a library that needs one socket should not ask
        // its user to end threads.
        group = MultiThreadedEventLoopGroup.singleton
        connectTimeout = TimeAmount(settings.connectTimeout)
        tls = address.isEncrypted ? try Self.tlsContext(settings) : nil
        pins = try PinnedKeys(settings.pinnedKeys)
    }

    /// Connects and prepares the channel's pipeline above TLS; without a time, within that of the
    /// settings.
    func connect<Output: Sendable>(
        within timeout: TimeAmount? = nil,
        _ prepare: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
    ) async throws(ClientError) -> Output {
        let (tls, pins, address) = (tls, pins, address)
        do {
            return try await ClientBootstrap(group: group)
                .connectTimeout(timeout ?? connectTimeout)
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .connect(host: address.host, port: address.port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        guard let tls else { return }
                        let name = address.isNumeric ? nil : address.host
                        let handler = try pins.makeHandler(tls, serverHostname: name)
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }.flatMap { prepare(channel) }
                }
        } catch let error as ClientError {
            throw error
        } catch is CancellationError {
            throw .cancelled
        } catch {
            throw ClientError(
                .connectionFailed,
                "No connection to \(address.description): \(Self.reason(error)).",
                cause: error
            )
        }
    }

    /// The part of NIO's errors that people need.
    private static func reason(_ error: any Error) -> String {
        guard let error = error as? NIOConnectionError else { return LostConnection.reason(error) }
        if let first = error.connectionErrors.first { return LostConnection.reason(first.error) }
        return "the name \"\(error.host)\" is not known"
    }

    private static func tlsContext(_ settings: ClientSettings) throws(ClientError) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let file = settings.certificateAuthorityFile {
            configuration.additionalTrustRoots = [.file(file)]
        }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            let file = settings.certificateAuthorityFile ?? "the system's certificates"
            throw ClientError(.badAddress, "\(file) cannot be read as certificates. Give a PEM file.", cause: error)
        }
    }
}

/// Why a connection is lost, or did not come about, in other words than the library's.
enum LostConnection {
    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as IOError:
            switch error.errnoCode {
            case ECONNREFUSED: "nothing listens there"
            case EHOSTUNREACH, ENETUNREACH: "there is no way to it"
            case ETIMEDOUT: "it did not answer in time"
            case ECONNRESET, EPIPE: "the other side ended the connection"
            default: String(cString: strerror(error.errnoCode))
            }
        case ChannelError.connectTimeout: "it did not answer in time"
        case is ChannelError: "the connection closed"
        case let error as any CustomStringConvertible: error.description
        default: "\(error)"
        }
    }
}

/// Why no encrypted connection came about; trying again would fail in the same way.
struct EncryptionFailure: Error, CustomStringConvertible {
    let description: String

    /// `nil` when the error has nothing to do with encryption.
    init?(_ error: any Error) {
        if let error = error as? KeyNotPinned {
            description = error.description
            return
        }
        guard error is NIOSSLError || error is BoringSSLError || error is NIOSSLExtraError else { return nil }
        let text = "\(error)"
        if text.contains("CERTIFICATE_VERIFY_FAILED") || text.contains("failedToValidateHostname") {
            description = "its certificate is not trusted; name its authority's file, or check the host's name"
        } else if text.contains("uncleanShutdown") {
            return nil
        } else {
            description = "encryption failed: at this port it may speak no TLS"
        }
    }
}
