/// The words by which senders say how bad something is.
package enum SeverityWords {
    /// The priority of a word, 1 (min) to 5 (critical), in any case; nil: nobody knows it.
    package static func priority(of word: String) -> Int? { table[word.lowercased()] }

    private static let words: [Int: [String]] = [
        5: [
            "critical", "disaster", "emergency", "emerg", "fatal", "page", "p1", "sev1", "s1", "blocker", "panic",
            "down",
        ],
        4: ["error", "err", "high", "major", "severe", "p2", "sev2", "s2", "alert", "average"],
        3: ["warning", "warn", "medium", "minor", "moderate", "p3", "sev3", "s3"],
        2: ["info", "information", "informational", "notice", "low", "p4", "sev4", "none", "ok", "success"],
        1: ["debug", "trace", "p5", "sev5", "test"],
    ]
    private static let table: [String: Int] = words.reduce(into: [:]) { table, entry in
        for word in entry.value { table[word] = entry.key }
    }
}
