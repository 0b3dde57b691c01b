import Glibc
import NIOSSL

/// Limits and times of the push transport.
package struct HTTP2Settings: Sendable {
    /// PEM file of the CAs to trust; `nil` trusts the system's.
    package var authorityPath: String?
    /// Connections a pool may use at once; the second one opens when the first is full.
    package var maximumConnections = 2
    /// Streams used on a connection, even if the peer allows more.
    package var maximumStreams = 1000
    /// Requests that may wait in one pool; more are answered `notProcessed`.
    package var maximumWaiting = 50_000
    /// Bytes of a response body that are kept.
    package var maximumResponseBytes = 16_384
    /// Time for address look-up, TCP, TLS and the peer's SETTINGS together.
    package var connectTimeoutSeconds = 10.0
    /// Pause after the first failed connect; doubles with each further one.
    package var firstBackoffSeconds = 1.0
    /// Longest pause between connects.
    package var maximumBackoffSeconds = 60.0
    /// With token authentication: how long the first request of a connection may
    /// keep the others waiting.
    package var firstAnswerSeconds = 2.0
    /// Quiet time after which a connection is tested with PING.
    package var idlePingSeconds = 3600.0
    /// Time for the answer to a PING, before the connection is given up.
    package var pingTimeoutSeconds = 5.0

    /// Settings with the defaults above.
    package init(authorityPath: String? = nil) {
        self.authorityPath = authorityPath
    }

    /// Throws why the CA file cannot be used.
    package func check() throws(HTTP2SettingsError) { _ = try TLSSetup.context(authorityPath: authorityPath) }
}

/// Why the transport could not be made.
package enum HTTP2SettingsError: Error, Sendable, CustomStringConvertible {
    /// The CA file cannot be read, or holds no certificate.
    case authority(path: String, reason: String)
    /// TLS could not be set up.
    case tls(reason: String)

    /// What happened and what to do next.
    package var description: String {
        switch self {
        case .authority(let path, let reason):
            "The push CA file \(path) is unusable: \(reason). Give a PEM file, or none for the system's CAs."
        case .tls(let reason):
            "TLS for pushes could not be set up: \(reason)."
        }
    }
}

/// TLS as providers ask for it: version 1.2 or later, HTTP/2 by ALPN.
enum TLSSetup {
    static func context(authorityPath: String?) throws(HTTP2SettingsError) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["h2"]
        if let authorityPath {
            do {
                configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(authorityPath))
            } catch {
                throw HTTP2SettingsError.authority(path: authorityPath, reason: Self.reason(authorityPath))
            }
        }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw HTTP2SettingsError.tls(reason: "the TLS library refused them (\(error))")
        }
    }

    private static func reason(_ path: String) -> String {
        if access(path, F_OK) != 0 { return "there is no such file" }
        if access(path, R_OK) != 0 { return "this user may not read it" }
        return "it holds no certificate in PEM"
    }
}
