import TocsinCore

/// The texts of integrations' keys: what a sender gets once, and what is stored of it.
package struct IntegrationKeyText: IntegrationKeyTexts {
    /// Letters and digits alone, as senders of PagerDuty ask for.
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// What makes them.
    package init() {}

    /// 160 random bits.
    package func make() -> String {
        let letters = RandomBytes.make(IntegrationKey.length).map { Self.alphabet[Int($0 & 31)] }
        return String(decoding: letters, as: UTF8.self)
    }

    /// SHA-256 in hexadecimal: keys are random, so that no slow hash is needed.
    package func digest(of text: String) -> String { APIKeyText.hexadecimal(Digest.sha256(Array(text.utf8))) }
}
