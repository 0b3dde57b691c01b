/// Why a text is not the JSON we accept, and where.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was found and what was expected, as a sentence without its full stop.
    public let message: String
    /// Where, in bytes from the start.
    public let offset: Int
    /// Where, as a line counted from 1.
    public let line: Int
    /// Where in that line, in characters (Unicode scalars) counted from 1.
    public let column: Int

    /// The message with its position.
    public var description: String { "\(message) (line \(line), column \(column))" }

    init(_ message: String, at offset: Int, in bytes: UnsafeBufferPointer<UInt8>) {
        var line = 1
        var column = 1
        for byte in bytes.prefix(offset) {
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        self.message = message
        self.offset = offset
        self.line = line
        self.column = column
    }
}
