/// A key of an integration: whoever sends it may post to that integration, and nothing else.
///
/// Its text is shown once and never stored, only its digest.
package struct IntegrationKey: Sendable, Hashable {
    /// Characters of a key's text: as many as senders of PagerDuty ask for, of five bits each.
    package static let length = 32
    /// Characters of a text that are shown wherever keys are listed.
    package static let hintLength = 4
    /// Keys of one integration that are good at the same time.
    package static let maximumGood = 2

    /// SHA-256 of the text, in hexadecimal; unique.
    package var digest: String
    /// The integration that it is of.
    package var integrationID: String
    /// What the text begins with.
    package var hint: String
    /// When it was made.
    package var createdAt: Timestamp
    /// The moment from which it is refused; nil: none is set.
    package var endsAt: Timestamp?

    /// A key without an end.
    package init(digest: String, integrationID: String, hint: String, createdAt: Timestamp) {
        (self.digest, self.integrationID, self.hint) = (digest, integrationID, hint)
        self.createdAt = createdAt
    }

    /// Whether it lets its bearer post.
    package func isGood(at moment: Timestamp) -> Bool { endsAt.map { moment < $0 } ?? true }

    /// Whether a text has a key's form: no token has it.
    package static func hasForm(_ text: String) -> Bool {
        text.utf8.count == length
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "2")...UInt8(ascii: "7")).contains(byte)
            }
    }
}

/// Makes the texts of integrations' keys, and what is stored of them.
package protocol IntegrationKeyTexts: Sendable {
    /// A text that nobody can guess.
    func make() -> String
    /// What is stored of a text: its SHA-256 in hexadecimal.
    func digest(of text: String) -> String
}
