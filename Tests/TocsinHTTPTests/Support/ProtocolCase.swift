/// One case of a protocol suite: what a client sends to the echo and what must come back.
struct ProtocolCase: Sendable {
    /// A frame as its first byte and its payload.
    struct Frame: Sendable {
        var first: UInt8
        var payload: [UInt8] = []

        static func text(_ text: String, isFinal: Bool = true) -> Frame {
            .init(first: isFinal ? 0x81 : 1, Array(text.utf8))
        }
        static func text(_ bytes: [UInt8], isFinal: Bool = true) -> Frame { .init(first: isFinal ? 0x81 : 1, bytes) }
        static func binary(_ bytes: [UInt8]) -> Frame { .init(first: 0x82, bytes) }
        static func more(_ text: String, isFinal: Bool = true) -> Frame {
            .init(first: isFinal ? 0x80 : 0, Array(text.utf8))
        }
        static func more(_ bytes: [UInt8], isFinal: Bool = true) -> Frame { .init(first: isFinal ? 0x80 : 0, bytes) }
        static func ping(_ bytes: [UInt8] = []) -> Frame { .init(first: 0x89, bytes) }
        static func pong(_ bytes: [UInt8] = []) -> Frame { .init(first: 0x8A, bytes) }
        static func close(_ payload: [UInt8]) -> Frame { .init(first: 0x88, payload) }
        static func close(_ code: UInt16, _ reason: String = "") -> Frame {
            .close([UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
        }

        init(first: UInt8, _ payload: [UInt8] = []) {
            self.first = first
            self.payload = payload
        }
    }

    /// The number in the suite.
    var id: String
    var sends: [Frame]
    /// Frames that come before the close.
    var echoes: [RawFrame] = []
    /// The code the server closes with; 1000 after our own close at the end.
    var code = 1000
    /// The bytes are written in pieces of this size; `nil` writes each frame whole.
    var pieces: Int?

    /// The case sends no close of its own.
    var isClosedAtEnd: Bool { code == 1000 && !sends.contains { $0.first == 0x88 } }
}

extension RawFrame {
    static func text(_ text: String) -> RawFrame { RawFrame(opcode: 1, payload: Array(text.utf8)) }
    static func text(_ bytes: [UInt8]) -> RawFrame { RawFrame(opcode: 1, payload: bytes) }
    static func binary(_ bytes: [UInt8]) -> RawFrame { RawFrame(opcode: 2, payload: bytes) }
    static func pong(_ bytes: [UInt8] = []) -> RawFrame { RawFrame(opcode: 10, payload: bytes) }
}

extension RawClient {
    /// The bytes of a frame, masked with a key that changes with the length.
    static func bytes(of frame: ProtocolCase.Frame) -> [UInt8] {
        let count = frame.payload.count
        var bytes = [frame.first]
        switch count {
        case ...125: bytes.append(0x80 | UInt8(count))
        case ...65535: bytes += [0xFE, UInt8(count >> 8), UInt8(count & 0xFF)]
        default:
            bytes.append(0xFF)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: count >> shift))
            }
        }
        // Large payloads are left as they are, which a key of zeros means: masking
        // them here would take long.
        let key: [UInt8] = count > 100_000 ? [0, 0, 0, 0] : [0x37, 0xFA, 0x21, UInt8(truncatingIfNeeded: count)]
        bytes += key
        let start = bytes.count
        bytes += frame.payload
        if count <= 100_000 {
            for index in 0..<count { bytes[start + index] ^= key[index & 3] }
        }
        return bytes
    }
}
