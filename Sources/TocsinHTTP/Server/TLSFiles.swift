import Glibc
import NIOSSL
import Synchronization

extension HTTPServerSettings.TLSFiles {
    /// Throws why the files cannot be used.
    package func check() throws(HTTPServerError) { _ = try makeContext() }

    /// The context, and when the first certificate to end does so, in Unix seconds.
    func makeContext() throws(HTTPServerError) -> (context: NIOSSLContext, end: Int?) {
        var (file, isRead) = (certificateFile, false)
        for file in [certificateFile, keyFile] {
            // The library would wait for a pipe's writer.
            if let cause = Self.oddity(of: file) { throw .cannotUseCertificate(file: file, cause: cause) }
        }
        do {
            let certificates = try NIOSSLCertificate.fromPEMFile(file)
            guard !certificates.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
            let chain = certificates.map { NIOSSLCertificateSource.certificate($0) }
            file = keyFile
            let key = try NIOSSLPrivateKey(file: file, format: .pem)
            isRead = true
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain,
                privateKey: .privateKey(key)
            )
            configuration.minimumTLSVersion = .tlsv12
            configuration.cipherSuiteValues = Self.suites
            configuration.applicationProtocols = ["http/1.1"]
            return (try NIOSSLContext(configuration: configuration), certificates.map { Int($0.notValidAfter) }.min())
        } catch {
            // Each by itself can be read: what is left to be wrong is that they are no pair.
            let cause = isRead ? "it is not the key of the certificate" : Self.cause(error, file)
            throw .cannotUseCertificate(file: file, cause: cause)
        }
    }

    /// Why the file cannot be read whatever it holds; nil: it can, or is not there.
    private static func oddity(of file: String) -> String? {
        var status = stat()
        guard stat(file, &status) == 0 else { return nil }
        return switch status.st_mode & S_IFMT {
        case S_IFREG: nil
        case S_IFDIR: "it is a directory"
        case S_IFIFO: "it is a pipe"
        default: "it is no plain file"
        }
    }

    /// What is wrong with the file, in other words than the library's.
    private static func cause(_ error: any Error, _ file: String) -> String {
        if access(file, F_OK) != 0 { return "there is no such file" }
        if access(file, R_OK) != 0 { return "this user may not read it" }
        switch error as? NIOSSLError {
        case .failedToLoadCertificate?: return "it holds no certificate in PEM"
        case .failedToLoadPrivateKey?: return "it holds no private key in PEM that can be read without a password"
        default: return "it cannot be read"
        }
    }

    /// The suites of TLS 1.2, all with forward secrecy and authenticated encryption (RFC
    /// 9325 §4.2); those of TLS 1.3 are such ones anyway.
    private static let suites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]
}

/// The certificate and key that new connections are shown, which may be others
/// from one moment to the next.
final class TLSContext: Sendable {
    private let context = Mutex<(context: NIOSSLContext, end: Int?)?>(nil)

    /// nil while the server speaks no TLS.
    var current: NIOSSLContext? { context.withLock { $0?.context } }

    /// When the certificate ends, in Unix seconds; nil while the server speaks no TLS.
    var certificateEnd: Int? { context.withLock { $0?.end } }

    /// Shows this to new connections from now on.
    func replace(with new: (context: NIOSSLContext, end: Int?)) { context.withLock { $0 = new } }
}
