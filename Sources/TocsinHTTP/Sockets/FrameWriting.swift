import GraphQLTransport
import NIOCore

extension ByteBuffer {
    /// Appends one text frame (RFC 6455 §5.2); servers do not mask.
    mutating func writeTextFrame(_ message: SocketMessage) {
        writeFrameHead(opcode: .text, length: message.count)
        writeBytes(message.prefix)
        writeBytes(message.shared)
        writeBytes(message.suffix)
    }

    /// Appends one binary frame.
    mutating func writeBinaryFrame(_ bytes: [UInt8]) {
        writeFrameHead(opcode: .binary, length: bytes.count)
        writeBytes(bytes)
    }

    /// Appends a ping or pong frame.
    mutating func writeControlFrame(_ opcode: FrameHead.Opcode, _ payload: [UInt8]) {
        writeFrameHead(opcode: opcode, length: payload.count)
        writeBytes(payload)
    }

    /// Appends a close frame; without a code it has no payload.
    mutating func writeCloseFrame(code: UInt16?, reason: String = "") {
        guard let code else { return writeFrameHead(opcode: .close, length: 0) }
        writeFrameHead(opcode: .close, length: 2 + reason.utf8.count)
        writeInteger(code)
        writeString(reason)
    }

    private mutating func writeFrameHead(opcode: FrameHead.Opcode, length: Int) {
        let first = 0x80 | opcode.rawValue
        switch length {
        case ...125:
            writeMultipleIntegers(first, UInt8(length))
        case ...Int(UInt16.max):
            writeMultipleIntegers(first, UInt8(126), UInt16(length))
        default:
            writeMultipleIntegers(first, UInt8(127), UInt64(length))
        }
    }
}
