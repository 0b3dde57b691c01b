/// A line and a column of a document, as people and editors count it.
public struct SourceLocation: Sendable, Hashable, Comparable {
    /// The line, counted from 1.
    public let line: Int
    /// The column in that line, in UTF-16 code units, counted from 1.
    public let column: Int

    /// The location at this line and column.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Whether one location comes before the other.
    public static func < (left: SourceLocation, right: SourceLocation) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

extension SourceLocation {
    /// The location of a byte, counted from the start of the text.
    init(of offset: Int, in bytes: UnsafeBufferPointer<UInt8>) {
        var count = LineCount()
        count.pass(bytes, 0..<min(offset, bytes.count))
        self = count.location
    }
}

/// Counts lines and columns along a text.
private struct LineCount {
    private var line: UInt32 = 1
    private var column: UInt32 = 1
    private var endsInCarriageReturn = false

    var location: SourceLocation { SourceLocation(line: Int(line), column: Int(column)) }

    mutating func pass(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        for byte in bytes[range] {
            if byte == 0x0A || byte == 0x0D {
                if byte == 0x0D || !endsInCarriageReturn { line += 1 }
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += byte >= 0xF0 ? 2 : 1
            }
            endsInCarriageReturn = byte == 0x0D
        }
    }
}

/// The locations of a text's bytes, made when the first is asked for.
///
/// Counted from the nearest of many marks, so that telling a thousand locations of one long line is
/// not the work of its square.
struct SourceLines {
    private var marks: [LineCount] = []
    private static let step = 64

    /// The location of a byte of the text, which is the same text each time.
    mutating func location(of offset: Int, in bytes: UnsafeBufferPointer<UInt8>) -> SourceLocation {
        if marks.isEmpty { mark(bytes) }
        let mark = min(offset / Self.step, marks.count - 1)
        var count = marks[mark]
        count.pass(bytes, mark * Self.step..<min(max(offset, mark * Self.step), bytes.count))
        return count.location
    }

    private mutating func mark(_ bytes: UnsafeBufferPointer<UInt8>) {
        var count = LineCount()
        marks.reserveCapacity(bytes.count / Self.step + 1)
        for start in stride(from: 0, through: bytes.count, by: Self.step) {
            marks.append(count)
            count.pass(bytes, start..<min(start + Self.step, bytes.count))
        }
    }
}
