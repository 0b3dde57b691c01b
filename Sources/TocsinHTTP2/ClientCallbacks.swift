import CNGHTTP2

/// The border to libnghttp2: the only file that turns its `user_data` pointers back into sessions
/// and slots.
///
/// The session's pointer is unretained: `ClientSession` owns the native session and deletes it
/// in `deinit`, so that no callback can outlive it. A stream's pointer is never followed: it is
/// the stream's slot plus one.
enum ClientCallbacks {
    static func makeSession(_ pointer: inout OpaquePointer?, userData: ClientSession) {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        defer { nghttp2_session_callbacks_del(callbacks) }
        setResponse(callbacks)
        setFrames(callbacks)
        nghttp2_session_client_new(&pointer, callbacks, Unmanaged.passUnretained(userData).toOpaque())
    }

    /// Opens a stream; its id, or a negative error of libnghttp2.
    static func submit(
        _ pointer: OpaquePointer?,
        _ lines: UnsafeBufferPointer<nghttp2_nv>,
        _ mark: UnsafeMutableRawPointer?
    ) -> Int32 {
        var body = nghttp2_data_provider()
        body.source.ptr = mark
        body.read_callback = { _, _, buffer, length, flags, source, userData in
            guard let session = ClientCallbacks.session(userData), let mark = source?.pointee.ptr else { return 0 }
            let room = UnsafeMutableBufferPointer(start: buffer, count: length)
            let part = session.read(Int(bitPattern: mark) - 1, into: room)
            if part.isLast { flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
            return part.count
        }
        return nghttp2_submit_request(pointer, nil, lines.baseAddress, lines.count, &body, mark)
    }

    private static func session(_ userData: UnsafeMutableRawPointer?) -> ClientSession? {
        userData.map { Unmanaged<ClientSession>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func slot(_ pointer: OpaquePointer?, _ streamID: Int32) -> Int? {
        nghttp2_session_get_stream_user_data(pointer, streamID).map { Int(bitPattern: $0) - 1 }
    }

    private static func setResponse(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            pointer,
            frame,
            name,
            nameLength,
            value,
            length,
            _,
            data in
            guard let id = frame?.pointee.hd.stream_id, let slot = ClientCallbacks.slot(pointer, id) else { return 0 }
            ClientCallbacks.session(data)?.header(
                slot,
                UnsafeBufferPointer(start: name, count: nameLength),
                UnsafeBufferPointer(start: value, count: length)
            )
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { pointer, _, id, bytes, length, data in
            guard let slot = ClientCallbacks.slot(pointer, id) else { return 0 }
            ClientCallbacks.session(data)?.data(slot, UnsafeBufferPointer(start: bytes, count: length))
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { pointer, id, errorCode, data in
            guard let slot = ClientCallbacks.slot(pointer, id) else { return 0 }
            ClientCallbacks.session(data)?.close(slot, errorCode: errorCode)
            return 0
        }
    }

    private static func setFrames(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { pointer, frame, data in
            guard let frame, let session = ClientCallbacks.session(data) else { return 0 }
            let head = frame.pointee.hd
            let isAnswer = head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
            switch UInt32(head.type) {
            case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
                let isLast = head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
                if isLast, let slot = ClientCallbacks.slot(pointer, head.stream_id) { session.responseEnded(slot) }
            case NGHTTP2_SETTINGS.rawValue where !isAnswer:
                session.settingsCame()
            case NGHTTP2_PING.rawValue where isAnswer:
                session.pingWasAnswered()
            case NGHTTP2_GOAWAY.rawValue:
                let end = frame.pointee.goaway
                let bytes = UnsafeBufferPointer(start: end.opaque_data, count: end.opaque_data_len)
                let text = String(decoding: bytes.prefix(256), as: UTF8.self)
                session.goAwayCame(errorCode: end.error_code, debugData: text)
            default:
                break
            }
            return 0
        }
    }
}
