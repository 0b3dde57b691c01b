import GraphQLTransport
import NIOCore

/// What a client's bytes break, and the code to close with.
struct FrameFault: Error {
    let code: SocketCloseCode
    let reason: String

    init(_ reason: String, _ code: SocketCloseCode = .protocolError) {
        self.code = code
        self.reason = reason
    }
}

/// The head of one frame of a client (RFC 6455 §5.2).
struct FrameHead {
    enum Opcode: UInt8 {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        var isControl: Bool { rawValue & 8 != 0 }
    }

    let opcode: Opcode
    let isFinal: Bool
    let length: Int
    let mask: UInt32

    /// Takes the head once it is in whole; `nil` before.
    static func read(from input: inout ByteBuffer) throws(FrameFault) -> FrameHead? {
        let start = input.readerIndex
        guard let first = input.getInteger(at: start, as: UInt8.self) else { return nil }
        guard first & 0x70 == 0 else { throw FrameFault("No extension was agreed on") }
        guard let opcode = Opcode(rawValue: first & 0x0F) else { throw FrameFault("This opcode is unknown") }
        let isFinal = first & 0x80 != 0
        guard isFinal || !opcode.isControl else { throw FrameFault("Control frames are whole") }
        guard let second = input.getInteger(at: start + 1, as: UInt8.self) else { return nil }
        guard second & 0x80 != 0 else { throw FrameFault("Frames of clients must be masked") }
        guard !opcode.isControl || second & 0x7F <= 125 else {
            throw FrameFault("Control frames have at most 125 bytes")
        }
        guard let (length, size) = try length(second & 0x7F, in: input, at: start + 2),
            let mask = input.getInteger(at: start + 2 + size, as: UInt32.self)
        else { return nil }
        input.moveReaderIndex(forwardBy: 6 + size)
        return FrameHead(opcode: opcode, isFinal: isFinal, length: length, mask: mask)
    }

    /// The length and how many bytes it takes; the shortest form must be used.
    private static func length(
        _ short: UInt8,
        in input: ByteBuffer,
        at index: Int
    ) throws(FrameFault) -> (Int, size: Int)? {
        switch short {
        case 126:
            guard let length = input.getInteger(at: index, as: UInt16.self) else { return nil }
            guard length > 125 else { throw FrameFault("A length is longer than it must be") }
            return (Int(length), 2)
        case 127:
            guard let length = input.getInteger(at: index, as: UInt64.self) else { return nil }
            guard length > UInt16.max, length >> 63 == 0 else { throw FrameFault("A length is not well-formed") }
            return (Int(length), 8)
        default: return (Int(short), 0)
        }
    }
}
