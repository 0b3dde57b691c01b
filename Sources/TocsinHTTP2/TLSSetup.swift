import NIOSSL

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
                throw HTTP2SettingsError.authority(path: authorityPath, reason: "\(error)")
            }
        }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw HTTP2SettingsError.tls(reason: "\(error)")
        }
    }
}
