import Synchronization

/// All feeds of a client: one socket for as many as a server lets on one, and further ones beyond.
final class SocketHub: Sendable {
    private struct State {
        var sockets: [FeedSocket] = []
        var isPaused = false
        var isNetworkUsable = true
    }

    let states = ConnectionStates()
    private let connector: Connector
    private let keeper: CredentialKeeper
    private let settings: ClientSettings
    private let state = Mutex(State())

    init(connector: Connector, keeper: CredentialKeeper, settings: ClientSettings) {
        self.connector = connector
        self.keeper = keeper
        self.settings = settings
    }

    deinit { close() }

    /// Begins a feed on a socket with room.
    func follow(_ operation: any SocketOperation) -> FeedReader {
        // Under one lock: who comes at the same time must find the socket that another has made.
        let found = state.withLock { state -> (FeedSocket, SocketMachine.FeedID)? in
            for socket in state.sockets {
                if let id = socket.follow(operation) { return (socket, id) }
            }
            let socket = makeSocket(state)
            state.sockets.append(socket)
            return socket.follow(operation).map { (socket, $0) }
        }
        guard let (socket, id) = found else { return follow(operation) }
        return FeedReader(socket, id)
    }

    private func makeSocket(_ state: State) -> FeedSocket {
        // The first socket is the one that is shown.
        let shown = state.sockets.isEmpty ? states : nil
        let settings = settings
        let socket = FeedSocket(connector: connector, keeper: keeper, settings: settings) { change in
            settings.log?(ClientEvent(change))
            shown?.tell(change, wallClock: settings.environment.wallClock())
        }
        if state.isPaused { socket.handle(.pause) }
        if !state.isNetworkUsable { socket.handle(.network(isUsable: false)) }
        return socket
    }

    func networkChanged(isUsable: Bool) {
        let sockets = state.withLock { state in
            state.isNetworkUsable = isUsable
            return state.sockets
        }
        for socket in sockets { socket.handle(.network(isUsable: isUsable)) }
    }

    func pause() {
        let sockets = state.withLock { state in
            state.isPaused = true
            return state.sockets
        }
        if sockets.isEmpty { states.tell(.paused, wallClock: .zero) }
        for socket in sockets { socket.handle(.pause) }
    }

    func resume() {
        let sockets = state.withLock { state in
            state.isPaused = false
            return state.sockets
        }
        if sockets.isEmpty { states.tell(.idle, wallClock: .zero) }
        for socket in sockets { socket.handle(.resume) }
    }

    /// Ends all feeds.
    func close() { finish(.cancelled) }

    /// Ends all feeds, for nobody is signed in any more.
    func end(_ error: ClientError) {
        if finish(error) == 0 { states.tell(.signedOut(error), wallClock: .zero) }
    }

    /// Ends all feeds; the answer is how many sockets there were.
    @discardableResult
    private func finish(_ error: ClientError) -> Int {
        let sockets = state.withLock { $0.sockets }
        for socket in sockets { socket.handle(.finish(error)) }
        return sockets.count
    }
}

/// The reader's end of a feed; gone when it is dropped.
final class FeedReader: Sendable {
    private let socket: FeedSocket
    private let id: SocketMachine.FeedID

    init(_ socket: FeedSocket, _ id: SocketMachine.FeedID) {
        self.socket = socket
        self.id = id
    }

    deinit { socket.leave(id) }

    /// The next item; `nil` when the task was cancelled, and after the end.
    func next() async -> FeedItem? {
        await withTaskCancellationHandler {
            await socket.next(of: id)
        } onCancel: {
            socket.leave(id)
        }
    }
}
