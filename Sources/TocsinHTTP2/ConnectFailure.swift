import Glibc
import NIOCore
import NIOPosix
import NIOSSL

/// Says why no connection could be made, in words that lead to the mend.
enum ConnectFailure {
    static func text(_ error: any Error, _ origin: Origin, authorityPath: String?) -> String {
        let raw = "\(error)"
        if raw.contains("CERTIFICATE_VERIFY_FAILED") {
            let trusted = authorityPath.map { "the CA file \($0)" } ?? "this system's CAs"
            return "the certificate of \(origin.authority) is not signed by \(trusted)"
        }
        if case NIOSSLExtraError.failedToValidateHostname? = error as? NIOSSLExtraError {
            return "the certificate of \(origin.authority) is for another host"
        }
        switch error {
        case let failure as NIOConnectionError:
            return connection(failure, origin)
        case ChannelError.connectTimeout(let time):
            return "no connection to \(origin.authority) within \(time.nanoseconds / 1_000_000_000) s"
        case is NIOSSLError, is BoringSSLError:
            return "TLS with \(origin.authority) failed: \(libraryReason(raw))"
        default:
            return "the connection to \(origin.authority) failed: \(reason(error))"
        }
    }

    /// The TLS library's own word, as in WRONG_VERSION_NUMBER, without the place in its
    /// source that goes with it.
    private static func libraryReason(_ raw: String) -> Substring {
        guard let mark = raw.firstRange(of: "OPENSSL_internal:") else { return raw[...] }
        return raw[mark.upperBound...].prefix { $0 == "_" || $0.isLetter || $0.isNumber }
    }

    private static func connection(_ failure: NIOConnectionError, _ origin: Origin) -> String {
        if [failure.dnsAError, failure.dnsAAAAError].contains(where: { $0 is PublicAddressResolver.NoPublicAddress }) {
            return "\(origin.authority) has no public address"
        }
        guard let first = failure.connectionErrors.first else {
            return "the host name of \(origin.authority) was not found"
        }
        return "no connection to \(origin.authority): \(reason(first.error))"
    }

    /// What the system says, without the name of the call that failed.
    private static func reason(_ error: any Error) -> String {
        guard let failure = error as? IOError else { return "\(error)" }
        return switch failure.errnoCode {
        case ECONNREFUSED: "nothing listens there"
        case EHOSTUNREACH, ENETUNREACH: "there is no way to it"
        case ETIMEDOUT: "it did not answer in time"
        default: String(cString: strerror(failure.errnoCode))
        }
    }
}
