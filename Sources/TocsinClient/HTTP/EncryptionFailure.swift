import NIOSSL

/// Why no encrypted connection came about; trying again would fail in the same way.
struct EncryptionFailure: Error, CustomStringConvertible {
    let description: String

    /// `nil` when the error has nothing to do with encryption.
    init?(_ error: any Error) {
        guard error is NIOSSLError || error is BoringSSLError || error is NIOSSLExtraError else { return nil }
        let text = "\(error)"
        if text.contains("CERTIFICATE_VERIFY_FAILED") || text.contains("failedToValidateHostname") {
            description = "its certificate is not trusted; name its authority's file, or check the host's name"
        } else if text.contains("uncleanShutdown") {
            return nil
        } else {
            description = "encryption failed: \(text)"
        }
    }
}
