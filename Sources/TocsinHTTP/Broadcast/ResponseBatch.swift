import GraphQLTransport
import NIOCore
import Synchronization

/// Responses on their way to many connections, and the bytes they make on the wire: made once
/// for all that get the same.
final class ResponseBatch: Sendable {
    /// How a carrier cuts its messages.
    enum Framing: Sendable, Hashable {
        case webSocket, chunks, plain
    }

    private struct Frames {
        let envelope: ResponseEnvelope
        let framing: Framing
        let bytes: ByteBuffer
    }

    let responses: [SharedResponse]
    /// Where in its stream the last of them stands.
    let lastCursor: String?
    private let made = Mutex([Frames]())
    /// Clients that choose the same ids share frames; where each chooses its own,
    /// there is nothing to keep.
    private static let maximumKept = 4

    init(_ responses: [SharedResponse]) {
        self.responses = responses
        lastCursor = responses.last { $0.cursor != nil }?.cursor
    }

    /// How many messages it is.
    var count: Int { responses.count }

    /// All responses, framed one after the other.
    ///
    /// Equal envelopes become one object, so that comparing them again reads neither.
    func bytes(_ envelope: inout ResponseEnvelope, _ framing: Framing) -> ByteBuffer {
        made.withLock { made in
            if let kept = made.first(where: { $0.framing == framing && $0.envelope == envelope }) {
                envelope = kept.envelope
                return kept.bytes
            }
            let bytes = makeBytes(envelope, framing)
            if made.count < Self.maximumKept {
                made.append(Frames(envelope: envelope, framing: framing, bytes: bytes))
            }
            return bytes
        }
    }

    private func makeBytes(_ envelope: ResponseEnvelope, _ framing: Framing) -> ByteBuffer {
        let messages = responses.map { envelope.message(of: $0) }
        var buffer = ByteBufferAllocator().buffer(capacity: messages.reduce(0) { $0 + $1.count + 16 })
        for message in messages {
            switch framing {
            case .webSocket: buffer.writeTextFrame(message)
            case .chunks: buffer.writePiece(message, isChunked: true)
            case .plain: buffer.writePiece(message, isChunked: false)
            }
        }
        return buffer
    }
}
