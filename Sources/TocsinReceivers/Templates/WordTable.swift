/// What words mean, in any case of letters.
package struct WordTable<Meaning: Sendable>: Sendable {
    private var meanings: [String: Meaning] = [:]

    /// A table without words.
    package init() {}

    /// A table of these; of a word that stands twice the last meaning counts.
    package init(_ words: [(String, Meaning)]) {
        for (word, meaning) in words { self[word] = meaning }
    }

    /// What a word means; nil: nothing.
    package subscript(word: String) -> Meaning? {
        get { meanings[word.lowercased()] }
        set { meanings[word.lowercased()] = newValue }
    }

    /// All that words mean.
    package var values: [Meaning] { Array(meanings.values) }
}
