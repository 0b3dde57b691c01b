import TocsinStore

/// The statements that a session has prepared, by text and kinds of parameters.
struct PreparedTexts {
    /// A text prepared for parameters of these kinds, under this name.
    struct Variant {
        let name: String
        let kinds: [PostgresParameters.Kind]
    }

    private var variants: [StatementText: [Variant]] = [:]
    private var count = 0
    private var lastNumber = 0
    /// How many statements are kept prepared at most: filters make new ones without end.
    static let maximumCount = 256

    /// Whether there is no room for another.
    var isFull: Bool { count >= Self.maximumCount }

    func variant(of text: StatementText, for kinds: [PostgresParameters.Kind]) -> Variant? {
        variants[text]?.first { variant in
            variant.kinds.count == kinds.count && zip(variant.kinds, kinds).allSatisfy { $0.takes($1) }
        }
    }

    mutating func add(_ text: StatementText, _ kinds: [PostgresParameters.Kind]) -> Variant {
        lastNumber += 1
        let variant = Variant(name: "t\(lastNumber)", kinds: kinds)
        variants[text, default: []].append(variant)
        count += 1
        return variant
    }

    /// Forgets a statement that could not be prepared.
    mutating func remove(_ name: String, of text: StatementText) {
        let before = variants[text]?.count ?? 0
        variants[text]?.removeAll { $0.name == name }
        count -= before - (variants[text]?.count ?? 0)
    }

    mutating func removeAll() {
        variants.removeAll()
        count = 0
    }
}
