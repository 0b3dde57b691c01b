/// What a person's last token said about them, kept to judge pushes to them while they are away.
///
/// Only people of a sign-in provider have facts. For local users the account says the same.
package struct UserFacts: Sendable, Hashable {
    /// The `sub` of the token.
    package var userID: UserID
    /// The user name in the token; part of the owner text.
    package var username: String
    /// Who vouched for the person.
    package var provider: Identity.Provider
    /// The claims that the rules of topics and messages name.
    package var claims: [String: [String]]
    /// When the token was shown last; facts grow old by it.
    package var seenAt: Timestamp

    /// Facts from their stored values.
    package init(
        userID: UserID,
        username: String,
        provider: Identity.Provider,
        claims: [String: [String]],
        seenAt: Timestamp
    ) {
        self.userID = userID
        self.username = username
        self.provider = provider
        self.claims = claims
        self.seenAt = seenAt
    }

    /// The facts of a caller, with those of their claims that are asked for.
    ///
    /// Nil for local users, and for callers who are no person.
    package init?(of caller: Identity, naming claims: Set<String>, at now: Timestamp) {
        guard caller.isPerson, caller.tokenID == nil || caller.isOfProvider else { return nil }
        self.init(
            userID: caller.userID,
            username: caller.username,
            provider: caller.provider,
            claims: caller.claims.filter { claims.contains($0.key) },
            seenAt: now
        )
    }

    /// Whether both say the same, whenever they said it.
    func says(_ other: UserFacts) -> Bool {
        var other = other
        other.seenAt = seenAt
        return self == other
    }
}

// As the database keeps claims.
extension UserFacts {
    /// A line for each value: the claim, a tab, the value.
    package var claimsText: String {
        claims.sorted { $0.key < $1.key }
            .flatMap { claim, values in values.map { Self.escaped(claim) + "\t" + Self.escaped($0) } }
            .joined(separator: "\n")
    }

    /// Reads what `claimsText` wrote.
    package static func claims(of text: String) -> [String: [String]] {
        var claims: [String: [String]] = [:]
        // By scalars: as a character, a line end behind a carriage return is no line end.
        for line in text.unicodeScalars.split(separator: "\n") {
            let parts = line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            claims[unescaped(parts[0]), default: []].append(unescaped(parts[1]))
        }
        return claims
    }

    /// PostgreSQL's texts have no NUL.
    private static let escapes: [(character: Unicode.Scalar, letter: Unicode.Scalar)] = [
        ("\\", "\\"), ("\n", "n"), ("\t", "t"), ("\0", "0"),
    ]

    private static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if let escape = escapes.first(where: { $0.character == scalar }) {
                result.append("\\")
                result.append(escape.letter)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    private static func unescaped(_ text: Substring.UnicodeScalarView) -> String {
        var result = String.UnicodeScalarView()
        var scalars = text.makeIterator()
        while let scalar = scalars.next() {
            guard scalar == "\\", let letter = scalars.next() else {
                result.append(scalar)
                continue
            }
            result.append(escapes.first { $0.letter == letter }?.character ?? letter)
        }
        return String(result)
    }
}
