/// Why the server does not serve.
package enum HTTPServerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The address could not be listened on.
    case cannotListen(host: String, port: Int, cause: String)
    /// The certificate or its key could not be used.
    case cannotUseCertificate(file: String, cause: String)
    /// It was started twice, or after it had been stopped.
    case startedTwice

    /// What happened and what to do.
    package var description: String {
        switch self {
        case .cannotListen(let host, let port, let cause):
            "Cannot listen on \(host) port \(port): \(cause). Choose a free address, or stop who uses it."
        case .cannotUseCertificate(let file, let cause):
            "Cannot use the TLS file \(file): \(cause). Give a certificate chain and its private key as PEM files."
        case .startedTwice:
            "The server was started already. Make a new one to start again."
        }
    }
}
