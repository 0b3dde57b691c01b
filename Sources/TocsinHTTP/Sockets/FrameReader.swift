import GraphQLTransport
import NIOCore

/// Reads messages and control frames from the bytes of a client, and refuses what RFC 6455
/// forbids as soon as it shows.
struct FrameReader {
    /// What the bytes brought.
    enum Outcome: Equatable {
        case text([UInt8])
        case binary([UInt8])
        case ping([UInt8])
        case pong
        /// A frame of a message that goes on.
        case piece
        /// The peer closes; the code to answer with, `nil` for none.
        case close(UInt16?)
        /// The peer broke the protocol; nothing more is read.
        case failure(SocketCloseCode, String)
    }

    /// A frame whose head is in.
    private struct Frame {
        var opcode: FrameHead.Opcode
        var isFinal: Bool
        var mask: UInt32
        var length: Int
        var received = 0
    }

    /// A message whose first frame has begun.
    private struct Message {
        var isText: Bool
        var bytes: [UInt8] = []
        var check = UTF8Check()
    }

    var maximumBytes: Int
    private var input = ByteBuffer()
    private var frame: Frame?
    private var message: Message?
    private var control: [UInt8] = []
    private var hasStopped = false

    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    /// Takes what came; `next` is asked until it has no more.
    mutating func append(_ bytes: ByteBuffer) {
        guard !hasStopped else { return }
        guard input.readableBytes > 0 else {
            input = bytes
            return
        }
        var bytes = bytes
        input.writeBuffer(&bytes)
    }

    /// What the bytes so far brought next; `nil` when more must come.
    mutating func next() -> Outcome? {
        defer {
            // A quiet peer keeps no buffer.
            if input.readableBytes == 0 { input = ByteBuffer() }
        }
        while !hasStopped {
            do throws(FrameFault) {
                if frame == nil {
                    guard let head = try FrameHead.read(from: &input) else { return nil }
                    try begin(head)
                }
                guard try readPayload() else { return nil }
                if let outcome = try finish() { return outcome }
            } catch {
                stop()
                return .failure(error.code, error.reason)
            }
        }
        return nil
    }

    /// Reads nothing more: what comes is not even looked at.
    mutating func stop() {
        hasStopped = true
        input = ByteBuffer()
    }

    private mutating func begin(_ head: FrameHead) throws(FrameFault) {
        switch head.opcode {
        case .text, .binary:
            guard message == nil else { throw FrameFault("A message began inside another") }
            message = Message(isText: head.opcode == .text)
        case .continuation:
            guard message != nil else { throw FrameFault("A continuation came without a beginning") }
        case .close, .ping, .pong: control = []
        }
        if !head.opcode.isControl, let have = message?.bytes.count, head.length > maximumBytes - have {
            throw FrameFault("Messages may have \(maximumBytes) bytes", .messageTooBig)
        }
        frame = Frame(opcode: head.opcode, isFinal: head.isFinal, mask: head.mask, length: head.length)
    }

    /// Takes what is there of the frame's payload; says whether that was all.
    private mutating func readPayload() throws(FrameFault) -> Bool {
        guard var current = frame else { return false }
        let count = min(current.length - current.received, input.readableBytes)
        if count > 0 {
            if current.opcode.isControl {
                _ = Self.move(count, from: &input, to: &control, current.mask, at: current.received)
            } else {
                try takeData(count, current)
            }
            current.received += count
            frame = current
        }
        return current.received == current.length
    }

    private mutating func takeData(_ count: Int, _ current: Frame) throws(FrameFault) {
        guard var open = message else { return }
        message = nil
        let start = Self.move(count, from: &input, to: &open.bytes, current.mask, at: current.received)
        if open.isText {
            let isText = open.bytes.withUnsafeBytes { bytes in
                open.check.accepts(UnsafeRawBufferPointer(rebasing: bytes[start...]))
            }
            guard isText else { throw FrameFault("A text message is not UTF-8", .invalidPayload) }
        }
        message = open
    }

    /// Appends the next bytes of a payload, unmasked (RFC 6455 §5.3); says where they begin.
    private static func move(
        _ count: Int,
        from input: inout ByteBuffer,
        to bytes: inout [UInt8],
        _ mask: UInt32,
        at offset: Int
    ) -> Int {
        let start = bytes.count
        if let slice = input.readSlice(length: count) { bytes.append(contentsOf: slice.readableBytesView) }
        // The key from its byte for this index on, in the order of memory.
        let shift = UInt32(offset % 4 * 8)
        let key = (shift == 0 ? mask : mask << shift | mask >> (32 - shift)).bigEndian
        let wide = UInt64(key) << 32 | UInt64(key)
        bytes.withUnsafeMutableBytes { bytes in
            var index = start
            while index + 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                bytes.storeBytes(of: word ^ wide, toByteOffset: index, as: UInt64.self)
                index += 8
            }
            withUnsafeBytes(of: wide) { wide in
                for (position, index) in (index..<bytes.count).enumerated() { bytes[index] ^= wide[position] }
            }
        }
        return start
    }

    private mutating func finish() throws(FrameFault) -> Outcome? {
        guard let done = frame else { return nil }
        frame = nil
        switch done.opcode {
        case .ping: return .ping(control)
        case .pong: return .pong
        case .close: return try Self.close(control)
        case .text, .binary, .continuation: break
        }
        guard done.isFinal, let whole = message else { return .piece }
        message = nil
        guard whole.isText else { return .binary(whole.bytes) }
        guard whole.check.isComplete else { throw FrameFault("A text message is not UTF-8", .invalidPayload) }
        return .text(whole.bytes)
    }

    /// RFC 6455 §5.5.1, §7.4.
    private static func close(_ payload: [UInt8]) throws(FrameFault) -> Outcome {
        guard !payload.isEmpty else { return .close(nil) }
        guard payload.count >= 2 else { throw FrameFault("A close frame has half a code") }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: break
        default: throw FrameFault("A close frame has a code that must not be sent")
        }
        var check = UTF8Check()
        let isText = payload.withUnsafeBytes { check.accepts(UnsafeRawBufferPointer(rebasing: $0[2...])) }
        guard isText, check.isComplete else { throw FrameFault("A close reason is not UTF-8", .invalidPayload) }
        return .close(code)
    }
}
