import Encodings
import NIOCore
import NIOSSL
import TocsinContent

/// The public keys of which a server must show one; none for any.
struct PinnedKeys: Sendable {
    private let digests: Set<[UInt8]>

    /// Reads `sha256/…` texts.
    init(_ texts: [String]) throws(ClientError) {
        var digests: Set<[UInt8]> = []
        for text in texts {
            guard text.hasPrefix("sha256/"), let digest = Self.bytes(text.dropFirst("sha256/".count)) else {
                throw ClientError(
                    .badAddress,
                    "The pinned key \"\(text)\" is none. Write sha256/ and the base 64 of a public key's SHA-256."
                )
            }
            digests.insert(digest)
        }
        guard digests.count != 1 else {
            throw ClientError(
                .badAddress,
                "One key alone is pinned. Give a second, so that the server can change its key."
            )
        }
        self.digests = digests
    }

    /// A handler of TLS that shows nothing to a server with another key.
    func makeHandler(_ context: NIOSSLContext, serverHostname: String?) throws -> NIOSSLClientHandler {
        guard !digests.isEmpty else { return try NIOSSLClientHandler(context: context, serverHostname: serverHostname) }
        // The public callbacks replace all of BoringSSL's own checks. This one comes after them.
        return try NIOSSLClientHandler._makeSSLClientHandler(
            context: context,
            serverHostname: serverHostname
        ) { [digests] certificate, channel in
            channel.eventLoop.makeCompletedFuture {
                let key = try certificate.extractPublicKey().toSPKIBytes()
                guard digests.contains(SHA256.digest(key)) else { throw KeyNotPinned() }
            }
        }
    }

    /// 32 bytes in base 64.
    private static func bytes(_ text: Substring) -> [UInt8]? {
        let unpadded = text.hasSuffix("=") ? text.dropLast() : text
        let digits = String(unpadded.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
        guard let bytes = Base64URL.decoded(digits), bytes.count == 32 else { return nil }
        return bytes
    }
}

/// The server has a key that the application does not know.
struct KeyNotPinned: Error, CustomStringConvertible {
    let description = "its public key is none of the pinned ones; somebody may be in between, or the key has changed"
}
