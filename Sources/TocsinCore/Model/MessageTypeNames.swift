/// The words for types of messages: a word's position in the list is its number.
///
/// The first word, number 0, is what unknown words count as.
package struct MessageTypeNames: Sendable, Hashable {
    /// The words, in the order of their numbers.
    package let words: [String]
    /// Whether a message that is published by its number gets the number's word too.
    package let namesNumbers: Bool

    /// The words where the model file says nothing; what is published by number stays a number.
    package static let shipped = MessageTypeNames(
        shippedWords,
        namesNumbers: false
    )
    private static let shippedWords = [
        "generic", "upvote", "comment", "hot", "top", "leader", "message", "reply", "violation", "like",
    ]

    private init(_ words: [String], namesNumbers: Bool) {
        self.words = words
        self.namesNumbers = namesNumbers
    }

    /// The words of a model file, which tells them of numbers too.
    package init(declared words: [String]) { self.init(words, namesNumbers: true) }

    /// The number of a word, in letters of either case; nil: the word is unknown.
    package func number(of word: String) -> Int64? {
        let wanted = word.lowercased()
        return words.firstIndex { $0.lowercased() == wanted }.map(Int64.init)
    }

    /// The word of a number; nil: it has none.
    package func word(of number: Int64) -> String? {
        Int(exactly: number).flatMap { words.indices.contains($0) ? words[$0] : nil }
    }

    private static let maximumLetters = 64

    /// Whether a text may stand for a type: apps show it, and compare it.
    private static func isWord(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        guard (1...maximumLetters).contains(scalars.count), text.first?.isWhitespace == false,
            text.last?.isWhitespace == false
        else { return false }
        return scalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
            default: true
            }
        }
    }

    /// The input of a new message with both: the number of its word, and the word of its number
    /// where numbers are named.
    ///
    /// An unknown word is kept beside the number that came with it.
    func completed(_ input: RecordInput, of messages: ModelType) throws(ServiceError) -> RecordInput {
        let positions = messages.knownPositions
        guard let position = positions.type, positions.typeName != nil else { return input }
        let given = input.value(ofFieldAt: position, in: messages)?.int ?? 0
        guard let word = input.value(ofFieldAt: positions.typeName, in: messages)?.text else {
            guard namesNumbers, let word = word(of: given) else { return input }
            var input = input
            input[ModelType.typeName] = .text(word)
            return input
        }
        guard Self.isWord(word) else {
            throw .badInput(
                "typeName must have 1 to \(Self.maximumLetters) characters, none of them a control character or a space "
                    + "at its ends; leave it out instead of sending none."
            )
        }
        guard let number = number(of: word) else { return input }
        guard given == 0 || given == number else {
            throw .badInput(
                "typeName says type \(number), but type is \(given). Send one of them; beside a word, type may be 0."
            )
        }
        var input = input
        input[messages.fields[position].name] = .int(number)
        return input
    }
}
