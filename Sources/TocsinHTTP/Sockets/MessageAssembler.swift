import GraphQLTransport
import NIOCore
import NIOWebSocket

/// Puts frames together to messages and refuses what RFC 6455 forbids beyond what the frame decoder does.
struct MessageAssembler {
    /// What a frame brought.
    enum Outcome: Equatable {
        case nothing
        case text([UInt8])
        case binary
        case ping([UInt8])
        case pong
        /// The peer closes; the code to answer with, `nil` for none.
        case close(WebSocketErrorCode?)
        /// The peer broke the protocol.
        case failure(SocketCloseCode, String)
    }

    let maximumBytes: Int
    private var started: (opcode: WebSocketOpcode, bytes: ByteBuffer)?

    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    mutating func receive(_ frame: WebSocketFrame) -> Outcome {
        guard frame.maskKey != nil else { return .failure(.protocolError, "Frames of clients must be masked") }
        guard !frame.rsv1, !frame.rsv2, !frame.rsv3 else {
            return .failure(.protocolError, "No extension was agreed on")
        }
        switch frame.opcode {
        case .ping: return .ping(Array(frame.unmaskedData.readableBytesView))
        case .pong: return .pong
        case .connectionClose: return closed(frame.unmaskedData)
        case .text, .binary:
            guard started == nil else { return .failure(.protocolError, "A message began inside another") }
            started = (frame.opcode, frame.unmaskedData)
        case .continuation:
            guard let have = started?.bytes.readableBytes else {
                return .failure(.protocolError, "A continuation came without a beginning")
            }
            guard have + frame.length <= maximumBytes else {
                return .failure(.messageTooBig, "Messages may have \(maximumBytes) bytes")
            }
            started?.bytes.writeImmutableBuffer(frame.unmaskedData)
        default: return .failure(.protocolError, "This opcode is unknown")
        }
        return frame.fin ? finished() : .nothing
    }

    private mutating func finished() -> Outcome {
        guard let message = started else { return .nothing }
        started = nil
        guard message.opcode == .text else { return .binary }
        let view = message.bytes.readableBytesView
        guard String(validating: view, as: UTF8.self) != nil else {
            return .failure(.invalidPayload, "A text message is not UTF-8")
        }
        return .text(Array(view))
    }

    /// RFC 6455 §5.5.1, §7.4.
    private func closed(_ payload: ByteBuffer) -> Outcome {
        var payload = payload
        guard payload.readableBytes > 0 else { return .close(nil) }
        guard let code = payload.readInteger(as: UInt16.self) else {
            return .failure(.protocolError, "A close frame has half a code")
        }
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: break
        default: return .failure(.protocolError, "A close frame has a code that must not be sent")
        }
        guard String(validating: payload.readableBytesView, as: UTF8.self) != nil else {
            return .failure(.invalidPayload, "A close reason is not UTF-8")
        }
        return .close(WebSocketErrorCode(codeNumber: Int(code)))
    }
}
