import Synchronization

/// What a WebSocket brings.
enum SocketEvent: Sendable, Hashable {
    /// A whole text message.
    case text([UInt8])
    /// The end; `code` is the peer's close code, if it gave one.
    case closed(code: Int?, reason: String)

    var byteCount: Int {
        switch self {
        case .text(let bytes): bytes.count
        case .closed: 0
        }
    }
}

/// Hands what a socket brought to the one task that reads it, and says when the socket should wait.
final class SocketInbox: Sendable {
    private struct State {
        var events: [SocketEvent] = []
        var bytes = 0
        var end: SocketEvent?
        var reader: CheckedContinuation<SocketEvent, Never>?
        var isPaused = false
    }

    private let state = Mutex(State())

    /// Above either, the socket is not read any further; below a quarter of the first it is again.
    private static let mostEvents = 256
    private static let mostBytes = 4 << 20

    /// Whether the socket waits for the reader.
    var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Adds a message; the answer is whether the socket should stop reading.
    func put(_ event: SocketEvent) -> Bool {
        let (reader, pauses) = state.withLock { state -> (CheckedContinuation<SocketEvent, Never>?, Bool) in
            guard state.end == nil else { return (nil, false) }
            if let reader = state.reader {
                state.reader = nil
                return (reader, false)
            }
            state.events.append(event)
            state.bytes += event.byteCount
            let isFull = state.events.count >= Self.mostEvents || state.bytes >= Self.mostBytes
            if isFull { state.isPaused = true }
            return (nil, isFull)
        }
        reader?.resume(returning: event)
        return pauses
    }

    /// Marks the end, which is read after all messages before it; only the first counts.
    func end(code: Int?, reason: String) {
        let event = SocketEvent.closed(code: code, reason: reason)
        let reader = state.withLock { state -> CheckedContinuation<SocketEvent, Never>? in
            guard state.end == nil else { return nil }
            state.end = event
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: event)
    }

    /// The next event, when there is one; after the end always the end.
    ///
    /// `resume` is called when the socket may read on.
    func next(resume: () -> Void) async -> SocketEvent {
        await withCheckedContinuation { continuation in
            let (event, resumes) = state.withLock { state -> (SocketEvent?, Bool) in
                guard !state.events.isEmpty else {
                    if let end = state.end { return (end, false) }
                    state.reader = continuation
                    return (nil, false)
                }
                let event = state.events.removeFirst()
                state.bytes -= event.byteCount
                let isLow = state.events.count <= Self.mostEvents / 4 && state.bytes <= Self.mostBytes / 4
                defer { if isLow { state.isPaused = false } }
                return (event, state.isPaused && isLow)
            }
            if resumes { resume() }
            if let event { continuation.resume(returning: event) }
        }
    }
}
