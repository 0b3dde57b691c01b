import CNGHTTP2
import TocsinPush

/// The client side of one HTTP/2 connection: requests in, bytes out; bytes in, answers out to
/// the runs they belong to.
///
/// Confined to its connection's event loop.
final class ClientSession {
    /// A stream's slot.
    ///
    /// Its number plus one is what libnghttp2 carries as the stream's user data.
    private struct Slot {
        var run: BatchRun?
        var index = 0
        var streamID: Int32 = 0
        var bodySent = 0
        /// Whether END_STREAM was handed over: before that no provider can have accepted the push.
        var isSent = false
        var isAnswered = false
        var status = 0
        var headers: [PushHeader] = []
        var body: [UInt8] = []
        var isResponseWhole = false
    }

    /// What the peer says when it ends the connection.
    struct GoAway {
        var errorCode: UInt32
        var debugData: String
    }

    private(set) var openStreams = 0
    private(set) var hasSettings = false
    private(set) var goAway: GoAway?
    private(set) var pingAnswers = 0
    /// Responses the peer has given on this connection.
    private(set) var responses = 0
    /// Whether any request was handed to the peer.
    private(set) var hasTakenRequests = false
    /// Whether the peer has taken a request's credentials; until then Apple allows one stream
    /// (Apple: Establishing a token-based connection to APNs).
    ///
    /// It says so by an answer, or by allowing more streams.
    private(set) var isAccepted = false
    private var knownMaximumStreams = Int.max

    /// A slot for each stream there may be; a plain pointer, because each push looks here a dozen
    /// times.
    private let slots: UnsafeMutableBufferPointer<Slot>
    /// Slots before this have been used.
    private var usedSlots = 0
    private var free: [Int] = []
    private var lines = RequestLines()
    private let maximumResponseBytes: Int
    private var pointer: OpaquePointer?

    init(maximumResponseBytes: Int, maximumStreams: Int) {
        self.maximumResponseBytes = maximumResponseBytes
        slots = .allocate(capacity: max(1, maximumStreams))
        slots.initialize(repeating: Slot())
        ClientCallbacks.makeSession(&pointer, userData: self)
        let entries = [
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: 16_384),
            // RFC 9218 §2.1: no priorities are sent, so that none need be kept in order.
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES.rawValue), value: 1),
        ]
        nghttp2_submit_settings(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
        nghttp2_session_set_local_window_size(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, 1 << 20)
    }

    deinit {
        nghttp2_session_del(pointer)
        slots.deinitialize()
        slots.deallocate()
    }

    /// The streams the peer allows now.
    var peerMaximumStreams: Int {
        Int(nghttp2_session_get_remote_settings(pointer, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    /// Opens a stream for the run's next request; `false` when the connection takes no more.
    func submitNext(of run: BatchRun) -> Bool {
        let index = run.next
        let slot = free.popLast() ?? usedSlots
        guard slot < slots.count else { return false }
        usedSlots = max(usedSlots, slot + 1)
        let mark = UnsafeMutableRawPointer(bitPattern: slot + 1)
        let streamID = lines.withLines(run.block, run.batch.requests[index]) { lines in
            ClientCallbacks.submit(pointer, lines, mark)
        }
        guard streamID > 0 else {
            free.append(slot)
            return false
        }
        slots[slot] = Slot(run: run, index: index, streamID: streamID)
        openStreams += 1
        hasTakenRequests = true
        run.takeNext()
        return true
    }

    /// Feeds bytes; `false` when the peer broke the protocol so that the connection must end.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        nghttp2_session_mem_recv(pointer, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count) >= 0
    }

    /// Hands the next bytes to send, valid until the next call; `false` when there are none.
    func withNextBytes(_ use: (UnsafeRawBufferPointer) -> Void) -> Bool {
        var bytes: UnsafePointer<UInt8>?
        let count = nghttp2_session_mem_send(pointer, &bytes)
        guard count > 0 else { return false }
        use(UnsafeRawBufferPointer(start: bytes, count: count))
        return true
    }

    /// Whether nothing more can come or go: libnghttp2 has given the connection up,
    /// or it has ended in order.
    var isOver: Bool {
        nghttp2_session_want_read(pointer) == 0 && nghttp2_session_want_write(pointer) == 0
    }

    func ping() {
        nghttp2_submit_ping(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }

    /// Tells the peer that no more requests follow.
    func submitGoAway() {
        nghttp2_submit_goaway(
            pointer,
            UInt8(NGHTTP2_FLAG_NONE.rawValue),
            0,
            UInt32(NGHTTP2_NO_ERROR.rawValue),
            nil,
            0
        )
    }

    /// Gives up the run's open streams; `false` if there were none.
    func expire(_ run: BatchRun, reason: String) -> Bool {
        var found = false
        for slot in 0..<usedSlots where slots[slot].run === run && !slots[slot].isAnswered {
            found = true
            nghttp2_submit_rst_stream(
                pointer,
                UInt8(NGHTTP2_FLAG_NONE.rawValue),
                slots[slot].streamID,
                UInt32(NGHTTP2_CANCEL.rawValue)
            )
            answer(slot, slots[slot].isSent ? .unknown(reason: reason) : .notProcessed(reason: reason))
        }
        return found
    }

    /// Answers every open stream, because the connection is gone.
    func end(reason: String) {
        for slot in 0..<usedSlots where slots[slot].run != nil {
            answer(slot, slots[slot].isSent ? .unknown(reason: reason) : .notProcessed(reason: reason))
            release(slot)
        }
    }

    private func answer(_ slot: Int, _ answer: PushAnswer) {
        guard !slots[slot].isAnswered, let run = slots[slot].run else { return }
        slots[slot].isAnswered = true
        run.answer(slots[slot].index, answer)
    }

    private func release(_ slot: Int) {
        slots[slot] = Slot()
        free.append(slot)
        openStreams -= 1
    }
}

// Called back by libnghttp2, inside `receive` and `withNextBytes`.
extension ClientSession {
    func settingsCame() {
        hasSettings = true
        if openStreams > 0, peerMaximumStreams > knownMaximumStreams { isAccepted = true }
        knownMaximumStreams = peerMaximumStreams
    }

    /// Stops waiting for a sign that the credentials were taken; the peer's SETTINGS still hold.
    func assumeAccepted() { isAccepted = true }

    func pingWasAnswered() { pingAnswers += 1 }

    func goAwayCame(errorCode: UInt32, debugData: String) {
        goAway = GoAway(errorCode: errorCode, debugData: debugData)
    }

    func header(_ slot: Int, _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        switch ResponseHeader(name) {
        case .status:
            slots[slot].status = value.reduce(0) { $0 * 10 + Int($1 &- 0x30) }
        case .kept(let name):
            slots[slot].headers.append(PushHeader(name, text(value, answering: slot)))
        case .dropped:
            break
        }
    }

    /// A header's value; mostly it repeats what the request's own first header said, and
    /// then that text is shared.
    private func text(_ value: UnsafeBufferPointer<UInt8>, answering slot: Int) -> String {
        let index = slots[slot].index
        if let sent = slots[slot].run?.batch.requests[index].headers.first?.value, sent.utf8.count == value.count {
            let isSame = sent.utf8.withContiguousStorageIfAvailable { $0.elementsEqual(value) }
            if isSame == true { return sent }
        }
        return String(decoding: value, as: UTF8.self)
    }

    func data(_ slot: Int, _ bytes: UnsafeBufferPointer<UInt8>) {
        let room = max(0, maximumResponseBytes - slots[slot].body.count)
        slots[slot].body.append(contentsOf: bytes.prefix(room))
    }

    func responseEnded(_ slot: Int) {
        slots[slot].isResponseWhole = true
        // The peer has answered without waiting for the body: nothing is
        // gained by sending the rest.
        guard !slots[slot].isSent else { return }
        let code = UInt32(NGHTTP2_NO_ERROR.rawValue)
        nghttp2_submit_rst_stream(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), slots[slot].streamID, code)
    }

    func close(_ slot: Int, errorCode: UInt32) {
        guard slots[slot].run != nil else { return }
        answer(slot, outcome(slots[slot], errorCode))
        release(slot)
    }

    private func outcome(_ slot: Slot, _ errorCode: UInt32) -> PushAnswer {
        if slot.isResponseWhole, slot.status > 0 {
            responses += 1
            if ![401, 403, 429].contains(slot.status), slot.status < 500 { isAccepted = true }
            return .response(PushResponse(status: slot.status, headers: slot.headers, body: slot.body))
        }
        let code = String(cString: nghttp2_http2_strerror(errorCode))
        if errorCode == UInt32(NGHTTP2_REFUSED_STREAM.rawValue) {
            let reason = goAway.map { "GOAWAY \($0.debugData)" } ?? code
            return .notProcessed(reason: reason)
        }
        let reason = "the provider reset the stream with \(code)"
        return slot.isSent ? .unknown(reason: reason) : .notProcessed(reason: reason)
    }

    /// Copies the next part of a request's body; also says whether it was the last.
    func read(_ slot: Int, into buffer: UnsafeMutableBufferPointer<UInt8>) -> (count: Int, isLast: Bool) {
        guard let run = slots[slot].run else { return (0, true) }
        let start = slots[slot].bodySent
        let index = slots[slot].index
        let (count, isLast) = run.batch.requests[index].body.withUnsafeBufferPointer { body in
            let part = UnsafeBufferPointer(rebasing: body[start...].prefix(buffer.count))
            _ = buffer.update(fromContentsOf: part)
            return (part.count, start + part.count == body.count)
        }
        slots[slot].bodySent = start + count
        if isLast { slots[slot].isSent = true }
        return (count, isLast)
    }
}

/// The response headers a sender needs; the rest is dropped.
enum ResponseHeader {
    case status
    case kept(String)
    case dropped

    init(_ name: UnsafeBufferPointer<UInt8>) {
        switch name.count {
        case 7 where name.first == UInt8(ascii: ":"): self = name.elementsEqual(":status".utf8) ? .status : .dropped
        case 4: self = Self.kept("date", ifEqualTo: name)
        case 7: self = Self.kept("apns-id", ifEqualTo: name)
        case 8: self = Self.kept("location", ifEqualTo: name)
        case 11: self = Self.kept("retry-after", ifEqualTo: name)
        case 12: self = Self.kept("content-type", ifEqualTo: name)
        case 14: self = Self.kept("apns-unique-id", ifEqualTo: name)
        default: self = .dropped
        }
    }

    private static func kept(_ candidate: String, ifEqualTo name: UnsafeBufferPointer<UInt8>) -> ResponseHeader {
        name.elementsEqual(candidate.utf8) ? .kept(candidate) : .dropped
    }
}
