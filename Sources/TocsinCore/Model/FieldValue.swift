/// A stored value of one field.
package enum FieldValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case text(String)
    /// A list or object, as JSON text.
    case json(String)

    /// The text of a `text` value; nil for every other kind, JSON included.
    package var text: String? {
        if case .text(let value) = self { value } else { nil }
    }

    /// The number of an `int` value; nil for every other kind.
    package var int: Int64? {
        if case .int(let value) = self { value } else { nil }
    }

    /// What its text has, in UTF-8.
    package var textBytes: Int {
        switch self {
        case .text(let value), .json(let value): value.utf8.count
        case .null, .bool, .int, .double: 0
        }
    }

    /// Whether both are the same value, texts by their bytes: `==` takes two
    /// spellings of a letter for one.
    func hasBytes(of other: FieldValue) -> Bool {
        switch (self, other) {
        case (.text(let left), .text(let right)), (.json(let left), .json(let right)): left.hasBytes(of: right)
        default: self == other
        }
    }

    /// Whether it is null.
    package var isNull: Bool {
        if case .null = self { true } else { false }
    }
}
