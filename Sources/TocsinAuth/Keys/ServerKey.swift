import Encodings
package import TocsinCore

/// The server's own secret, from which the keys of its tokens and sealed cursors are derived.
///
/// It lives in the file `server.key` of the data directory; nodes that share a database share it.
package struct ServerKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// What a derived key is for.
    package enum Purpose: String, Sendable, CaseIterable {
        case localTokens = "tocsin local tokens 1"
        case signing = "tocsin sealing 1"
        case sealing = "tocsin sealing 2"
        /// Tells nodes whether they have the same key.
        case nodeMark = "tocsin node mark 1"
        /// Names devices' tokens in the log.
        case tokenHashes = "tocsin token hashes 1"
    }

    /// The file's name in the data directory.
    package static let fileName = "server.key"
    /// The shortest secret that is taken, in bytes.
    package static let minimumBytes = 32

    private let secret: [UInt8]

    /// Takes bytes that come from elsewhere (tests, a setting); at least 32.
    package init(secret: [UInt8]) throws(KeyError) {
        guard secret.count >= Self.minimumBytes else {
            throw KeyError("The server key has \(secret.count) bytes; at least \(Self.minimumBytes) are needed.")
        }
        self.secret = secret
    }

    /// Takes the text form: 32 bytes or more in base 64, as in the file.
    package init(text: String) throws(KeyError) {
        guard let bytes = Base64URL.decodedPasted(text), bytes.count >= Self.minimumBytes else {
            throw KeyError(
                "The server key is not 32 random bytes or more in base 64. Restore the right one, or make one with "
                    + "openssl rand -base64 32; tokens and cursors made with the old key then end."
            )
        }
        secret = bytes
    }

    /// Reads the file `server.key`, or makes it with mode 0600 when there is none.
    ///
    /// A start that dies half-way leaves either no file or a whole one; of two that
    /// start together one wins.
    package static func load(from dataDirectory: String) throws(KeyError) -> ServerKey {
        let path = dataDirectory + "/" + fileName
        if let text = try SecretFile.contents(of: path) { return try read(text, path) }
        let text = Base64URL.encoded(RandomBytes.make(minimumBytes))
        try SecretFile.create(path, contents: Array((text + "\n").utf8))
        guard let stored = try SecretFile.contents(of: path) else {
            throw KeyError("\(path) vanished while it was being made. Is something else clearing the directory?")
        }
        return try read(stored, path)
    }

    /// 32 bytes for one purpose (HKDF-SHA256); no purpose's key tells anything of another's.
    package func derived(for purpose: Purpose) -> [UInt8] {
        Digest.derivedKey(from: secret, purpose: Array(purpose.rawValue.utf8))
    }

    /// Shows nothing.
    package var description: String { "ServerKey(redacted)" }

    /// Shows nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }

    private static func read(_ contents: [UInt8], _ path: String) throws(KeyError) -> ServerKey {
        do throws(KeyError) {
            return try ServerKey(text: String(decoding: contents, as: UTF8.self))
        } catch {
            throw KeyError("\(path): \(error.description)")
        }
    }
}
