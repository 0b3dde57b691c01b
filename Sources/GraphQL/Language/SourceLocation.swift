/// A place in a document, as people and editors count it.
public struct SourceLocation: Sendable, Hashable, Comparable {
    /// The line, counted from 1.
    public let line: Int
    /// The column in that line, in UTF-16 code units, counted from 1.
    public let column: Int

    /// The place at this line and column.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Whether one place comes before the other.
    public static func < (left: SourceLocation, right: SourceLocation) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}
