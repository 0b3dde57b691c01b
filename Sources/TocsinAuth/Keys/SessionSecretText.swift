import Encodings
package import TocsinCore

/// The secrets of sessions: 256 random bits in base 64 for URLs, those of apps behind a prefix.
package struct SessionSecretText: SessionSecrets {
    /// The longest text that can be one.
    static let maximumBytes = 64

    /// What makes secrets.
    package init() {}

    /// A secret that nobody can guess.
    package func make(_ kind: Session.Kind) -> String {
        let random = Base64URL.encoded(RandomBytes.make(32))
        return kind == .app ? Session.appPrefix + random : random
    }

    /// A code of 128 random bits that people can copy.
    package func makeSetupCode() -> String {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
        return String(decoding: RandomBytes.make(26).map { alphabet[Int($0 & 31)] }, as: UTF8.self)
    }

    /// SHA-256 in hexadecimal: secrets are random, so that no slow hash is needed.
    package func digest(of secret: String) -> String { APIKeyText.hexadecimal(Digest.sha256(Array(secret.utf8))) }
}

extension PasswordHash {
    /// Text in the form of a hash, as costly to check as any, that no password has.
    package static let decoy =
        "$scrypt$ln=15,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
}
