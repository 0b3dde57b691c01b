import NIOSSL

extension HTTPServerSettings.TLSFiles {
    /// Throws why the files cannot be used.
    package func check() throws(HTTPServerError) { _ = try makeContext() }

    func makeContext() throws(HTTPServerError) -> NIOSSLContext {
        var file = certificateFile
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(file).map { NIOSSLCertificateSource.certificate($0) }
            file = keyFile
            let key = try NIOSSLPrivateKey(file: file, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain,
                privateKey: .privateKey(key)
            )
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw .cannotUseCertificate(file: file, cause: "\(error)")
        }
    }
}
