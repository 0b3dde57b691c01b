import CNGHTTP2

/// The server side of one HTTP/2 connection: bytes in, whole requests out; answers in, bytes out.
///
/// Confined to its connection's event loop.
final class ServerSession {
    struct Stream {
        var request = WireRequest()
        var reply: [UInt8] = []
        var sent = 0
    }

    /// Requests read to END_STREAM and not yet taken.
    private var finished: [(id: Int32, request: WireRequest)] = []
    private(set) var streams: [Int32: Stream] = [:]
    /// After GOAWAY: streams above this one are not processed.
    private(set) var lastStream = Int32.max
    /// The highest stream the peer has begun.
    private(set) var newestStream: Int32 = 0
    private let readsHeaders: Bool
    private var pointer: OpaquePointer?

    /// Bytes of a request body that are kept.
    private static let maximumBodyBytes = 65_536
    /// Header lines of a request that are kept.
    private static let maximumHeaders = 64

    init(maximumStreams: Int, readsHeaders: Bool) {
        self.readsHeaders = readsHeaders
        ServerCallbacks.makeSession(&pointer, userData: self)
        allow(streams: maximumStreams, first: true)
        nghttp2_session_set_local_window_size(pointer, 0, 0, 1 << 24)
    }

    deinit {
        nghttp2_session_del(pointer)
    }

    /// Announces how many streams the peer may have open.
    func allow(streams count: Int, first: Bool = false) {
        var entries = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
                value: UInt32(clamping: count)
            )
        ]
        if first {
            entries.append(
                nghttp2_settings_entry(
                    settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
                    value: 16_384
                )
            )
        }
        nghttp2_submit_settings(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
    }

    /// Feeds bytes; `false` when the peer broke the protocol so that the connection must end.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        nghttp2_session_mem_recv(pointer, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count) >= 0
    }

    /// The requests that became whole since the last call.
    func takeFinished() -> [(id: Int32, request: WireRequest)] {
        defer { finished.removeAll(keepingCapacity: true) }
        return finished
    }

    /// Hands the next bytes to send, valid until the next call; `false` when there are none.
    func withNextBytes(_ use: (UnsafeRawBufferPointer) -> Void) -> Bool {
        var bytes: UnsafePointer<UInt8>?
        let count = nghttp2_session_mem_send(pointer, &bytes)
        guard count > 0 else { return false }
        use(UnsafeRawBufferPointer(start: bytes, count: count))
        return true
    }

    /// Whether nothing more can come or go: after GOAWAY and the last stream.
    var isOver: Bool {
        nghttp2_session_want_read(pointer) == 0 && nghttp2_session_want_write(pointer) == 0
    }
}

// Answers and faults.
extension ServerSession {
    func answer(_ id: Int32, _ answer: WireAnswer, ends: Bool = true) {
        guard streams[id] != nil else { return }
        streams[id]?.reply = answer.body
        let lines = [(name: ":status", value: String(answer.status))] + answer.headers
        HeaderLines.withNativeLines(lines) { lines, count in
            if ends {
                ServerCallbacks.submitAnswer(pointer, id, lines, count, hasBody: !answer.body.isEmpty)
            } else {
                nghttp2_submit_headers(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, nil, lines, count, nil)
            }
        }
    }

    func reset(_ id: Int32, errorCode: UInt32) {
        nghttp2_submit_rst_stream(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, errorCode)
    }

    /// Announces the end of the connection; streams above `last` were not processed.
    func goAway(last: Int32, debugData: String) {
        lastStream = min(lastStream, max(0, last))
        let bytes = Array(debugData.utf8)
        nghttp2_submit_goaway(
            pointer,
            UInt8(NGHTTP2_FLAG_NONE.rawValue),
            lastStream,
            UInt32(NGHTTP2_NO_ERROR.rawValue),
            bytes,
            bytes.count
        )
    }
}

// Called back by libnghttp2, inside `receive` and `withNextBytes`.
extension ServerSession {
    func begin(_ id: Int32) {
        newestStream = max(newestStream, id)
        streams[id] = Stream()
    }

    func header(_ id: Int32, _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        if name.first == UInt8(ascii: ":") {
            switch String(decoding: name, as: UTF8.self) {
            case ":path": streams[id]?.request.path = String(decoding: value, as: UTF8.self)
            case ":method": streams[id]?.request.method = String(decoding: value, as: UTF8.self)
            default: break
            }
        } else if readsHeaders, streams[id]?.request.headers.count ?? 0 < Self.maximumHeaders {
            let line = (name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self))
            streams[id]?.request.headers.append(line)
        }
    }

    func data(_ id: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
        streams[id]?.request.bodyBytes += bytes.count
        let room = Self.maximumBodyBytes - (streams[id]?.request.body.count ?? 0)
        streams[id]?.request.body.append(contentsOf: bytes.prefix(room))
    }

    func end(_ id: Int32) {
        guard let request = streams[id]?.request else { return }
        finished.append((id, request))
    }

    func close(_ id: Int32) {
        streams[id] = nil
    }

    /// Copies the next part of a reply's body; also says whether it was the last.
    func read(_ id: Int32, into buffer: UnsafeMutableBufferPointer<UInt8>) -> (count: Int, isLast: Bool) {
        guard let stream = streams[id] else { return (0, true) }
        let part = stream.reply[stream.sent...].prefix(buffer.count)
        _ = buffer.update(fromContentsOf: part)
        streams[id]?.sent += part.count
        return (part.count, stream.sent + part.count == stream.reply.count)
    }
}
