/// Follows the frame of a body in chunks (RFC 9112 §7.1), so that its lines are bounded.
///
/// The parser would read a size, an extension or a trailer without end.
///
/// Extensions mean nothing here and are refused; what is inside trailers the parser judges.
struct ChunkLines {
    /// What became of bytes.
    enum Outcome: Equatable {
        /// This many bytes belong to the body and its frame; fewer than were given when the body
        /// ends there.
        case taken(Int)
        case refused(String)
    }

    private enum State {
        case size(digits: Int, value: Int)
        case sizeEnd(value: Int)
        case data(missing: Int)
        case dataEnd(missing: Int)
        /// How many bytes of the trailers have come, and how many of their present line.
        case trailers(bytes: Int, line: Int)
        case end
    }

    private static let maximumDigits = 16
    private static let maximumTrailerBytes = 4096
    private var state = State.size(digits: 0, value: 0)

    /// Takes bytes of the body's frame, as far as it goes.
    mutating func read(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        var index = 0
        while index < bytes.count {
            switch state {
            case .size(let digits, let value):
                guard let next = size(bytes[index], digits, value) else {
                    return .refused("A chunk's size must be 1 to 16 hexadecimal digits without an extension.")
                }
                state = next
                index += 1
            case .sizeEnd(let value):
                guard bytes[index] == UInt8(ascii: "\n") else { return .refused("A chunk's size must end with CR LF.") }
                state = value == 0 ? .trailers(bytes: 0, line: 0) : .data(missing: value)
                index += 1
            case .data(let missing):
                let count = min(missing, bytes.count - index)
                state = count == missing ? .dataEnd(missing: 2) : .data(missing: missing - count)
                index += count
            case .dataEnd(let missing):
                let expected = missing == 2 ? UInt8(ascii: "\r") : UInt8(ascii: "\n")
                guard bytes[index] == expected else { return .refused("A chunk must end with CR LF.") }
                state = missing == 2 ? .dataEnd(missing: 1) : .size(digits: 0, value: 0)
                index += 1
            case .trailers(let count, let line):
                guard count < Self.maximumTrailerBytes else {
                    return .refused("The trailers of the body are too long.")
                }
                let isLineEnd = bytes[index] == UInt8(ascii: "\n")
                index += 1
                state = isLineEnd && line <= 1 ? .end : .trailers(bytes: count + 1, line: isLineEnd ? 0 : line + 1)
                if case .end = state { return .taken(index) }
            // A parser that sees the end elsewhere is given the rest.
            case .end: return .taken(bytes.count)
            }
        }
        return .taken(index)
    }

    /// Where a byte of a size leads; nil where there must be none such.
    private func size(_ byte: UInt8, _ digits: Int, _ value: Int) -> State? {
        if byte == UInt8(ascii: "\r") { return digits > 0 ? .sizeEnd(value: value) : nil }
        let digit: UInt8
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
        default: return nil
        }
        let (shifted, isTooLarge) = value.multipliedReportingOverflow(by: 16)
        guard digits < Self.maximumDigits, !isTooLarge, shifted <= Int.max - 15 else { return nil }
        return .size(digits: digits + 1, value: shifted + Int(digit))
    }
}
