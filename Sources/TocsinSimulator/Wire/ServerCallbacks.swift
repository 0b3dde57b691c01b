import CNGHTTP2

/// The border to libnghttp2: the only place that turns its `user_data` pointer back into a session.
///
/// The pointer is unretained: the session owns the native one and deletes it in `deinit`, so no
/// callback can outlive it.
enum ServerCallbacks {
    static func makeSession(_ pointer: inout OpaquePointer?, userData: ServerSession) {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        defer { nghttp2_session_callbacks_del(callbacks) }
        setReading(callbacks)
        setFrames(callbacks)
        nghttp2_session_server_new(&pointer, callbacks, Unmanaged.passUnretained(userData).toOpaque())
    }

    private static func session(_ userData: UnsafeMutableRawPointer?) -> ServerSession? {
        userData.map { Unmanaged<ServerSession>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func setReading(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, userData in
            if let frame { ServerCallbacks.session(userData)?.begin(frame.pointee.hd.stream_id) }
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _,
            frame,
            name,
            nameLength,
            value,
            length,
            _,
            data in
            if let frame {
                ServerCallbacks.session(data)?.header(
                    frame.pointee.hd.stream_id,
                    UnsafeBufferPointer(start: name, count: nameLength),
                    UnsafeBufferPointer(start: value, count: length)
                )
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, length, userData in
            ServerCallbacks.session(userData)?.data(id, UnsafeBufferPointer(start: bytes, count: length))
            return 0
        }
    }

    private static func setFrames(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, userData in
            guard let head = frame?.pointee.hd else { return 0 }
            let carriesRequest =
                head.type == UInt8(NGHTTP2_HEADERS.rawValue) || head.type == UInt8(NGHTTP2_DATA.rawValue)
            if carriesRequest, head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
                ServerCallbacks.session(userData)?.end(head.stream_id)
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, _, userData in
            ServerCallbacks.session(userData)?.close(id)
            return 0
        }
    }

    static func submitAnswer(
        _ pointer: OpaquePointer?,
        _ id: Int32,
        _ lines: UnsafePointer<nghttp2_nv>?,
        _ count: Int,
        hasBody: Bool
    ) {
        guard hasBody else {
            nghttp2_submit_response(pointer, id, lines, count, nil)
            return
        }
        var body = nghttp2_data_provider()
        body.read_callback = { _, id, buffer, length, flags, _, userData in
            let room = UnsafeMutableBufferPointer(start: buffer, count: length)
            guard let part = ServerCallbacks.session(userData)?.read(id, into: room) else { return 0 }
            if part.isLast { flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
            return part.count
        }
        nghttp2_submit_response(pointer, id, lines, count, &body)
    }
}
