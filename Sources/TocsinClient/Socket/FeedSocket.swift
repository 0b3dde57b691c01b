import GraphQLTransport
import Synchronization

/// One socket after another with the feeds on it: does what its machine says.
///
/// Everything that happens goes through one lock into the machine, and is done before the next.
/// What is done there never waits: bytes are handed to the socket's thread, tasks are begun or
/// cancelled, readers are woken.
final class FeedSocket: Sendable {
    typealias FeedID = SocketMachine.FeedID

    private struct Timer {
        var number: Int
        var task: Task<Void, Never>
    }

    private struct State {
        var machine: SocketMachine
        var lastFeed = 0
        var connection: WebSocketConnection?
        /// Opens a connection and reads it.
        var reading: Task<Void, Never>?
        /// Which connection counts; what others bring is dropped.
        var attempt = 0
        var asking: Task<Void, Never>?
        var wish = 0
        var timers: [SocketMachine.Timer: Timer] = [:]
        var lastTimer = 0
        /// Who waits for something to take.
        var readers: [FeedID: CheckedContinuation<Void, Never>] = [:]
    }

    private let connector: Connector
    private let keeper: CredentialKeeper
    private let settings: ClientSettings
    private let tell: @Sendable (SocketMachine.Change) -> Void
    private let state: Mutex<State>

    init(
        connector: Connector,
        keeper: CredentialKeeper,
        settings: ClientSettings,
        tell: @escaping @Sendable (SocketMachine.Change) -> Void
    ) {
        self.connector = connector
        self.keeper = keeper
        self.settings = settings
        self.tell = tell
        let machine = SocketMachine(settings: settings, random: settings.environment.random)
        state = Mutex(State(machine: machine))
    }

    /// Begins a feed; `nil` when there are too many here.
    func follow(_ operation: any SocketOperation) -> FeedID? {
        let id = state.withLock { state -> FeedID? in
            guard state.machine.hasRoom else { return nil }
            state.lastFeed += 1
            return state.lastFeed
        }
        if let id { handle(.follow(id, operation)) }
        return id
    }

    /// Takes what happened.
    func handle(_ event: SocketMachine.Event) {
        _ = change { state in state.machine.handle(event) }
    }

    /// The next for a reader, which it waits for; `nil` when the feed is gone.
    func next(of id: FeedID) async -> FeedItem? {
        while true {
            var taken = SocketMachine.Taken.gone
            _ = change { state in
                let (item, actions) = state.machine.take(id)
                taken = item
                return actions
            }
            switch taken {
            case .item(let item): return item
            case .gone: return nil
            case .nothing: await untilReady(id)
            }
        }
    }

    /// The reader has gone, or will go.
    func leave(_ id: FeedID) {
        handle(.leave(id))
        state.withLock { $0.readers.removeValue(forKey: id) }?.resume()
    }

    private func untilReady(_ id: FeedID) async {
        await withCheckedContinuation { reader in
            let isReady = state.withLock { state in
                if state.machine.isReady(id) { return true }
                state.readers[id] = reader
                return false
            }
            if isReady { reader.resume() }
        }
    }
}

// Doing what the machine says.
extension FeedSocket {
    /// Changes the machine, unless it is about a connection that does not count any more.
    private func change(ofAttempt attempt: Int? = nil, _ body: (inout State) -> [SocketMachine.Action]) -> Bool {
        let (isCurrent, readers) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
            if let attempt, attempt != state.attempt { return (false, []) }
            let actions = body(&state)
            return (true, actions.compactMap { perform($0, &state) })
        }
        for reader in readers { reader.resume() }
        return isCurrent
    }

    /// Does one action; the answer is the reader to wake, if that is what is to be done.
    private func perform(_ action: SocketMachine.Action, _ state: inout State) -> CheckedContinuation<Void, Never>? {
        switch action {
        case .send(let text): state.connection?.send(text)
        case .open: open(&state)
        case .close: close(&state)
        case .askForToken(let wish): ask(wish, &state)
        case .setTimer(let timer, let pause): set(timer, pause, &state)
        case .cancelTimer(let timer): state.timers.removeValue(forKey: timer)?.task.cancel()
        case .watchRenewal(let held, let milliseconds):
            if let pause = keeper.renewal(of: held, serverSays: milliseconds) { set(.renewal, pause, &state) }
        case .wake(let id): return state.readers.removeValue(forKey: id)
        case .tell(let change): tell(change)
        }
        return nil
    }

    private func open(_ state: inout State) {
        close(&state)
        let attempt = state.attempt
        state.reading = Task { await self.read(attempt) }
    }

    private func close(_ state: inout State) {
        state.attempt += 1
        state.reading?.cancel()
        state.reading = nil
        state.connection?.close()
        state.connection = nil
    }

    /// Opens a connection and reads it to its end.
    private func read(_ attempt: Int) async {
        let connection: WebSocketConnection
        do throws(ClientError) {
            connection = try await WebSocketConnection.open(
                connector: connector,
                subprotocol: TransportWSClientSession.subprotocol,
                settings: settings
            )
        } catch {
            _ = change(ofAttempt: attempt) { $0.machine.handle(.openFailed(error)) }
            return
        }
        if let seconds = connection.serverSeconds { keeper.heard(serverSeconds: seconds) }
        let isWanted = change(ofAttempt: attempt) { state in
            state.connection = connection
            return state.machine.handle(.opened)
        }
        guard isWanted else { return connection.close() }
        while true {
            switch await connection.next() {
            case .text(let text):
                guard change(ofAttempt: attempt, { $0.machine.handle(.text(text)) }) else { return }
            case .closed(let code, let reason):
                _ = change(ofAttempt: attempt) { $0.machine.handle(.closed(code: code, reason: reason)) }
                return
            }
        }
    }

    private func ask(_ wish: SocketMachine.TokenWish, _ state: inout State) {
        state.asking?.cancel()
        state.wish += 1
        let (number, keeper) = (state.wish, keeper)
        state.asking = Task { [weak self] in
            let event: SocketMachine.Event
            do throws(ClientError) {
                let held =
                    switch wish {
                    case .usable: try await keeper.usable()
                    case .newer(let held): try await keeper.newer(than: held)
                    case .replacement(let held, let error): try await keeper.replacement(for: held, refused: error)
                    }
                event = .token(held)
            } catch {
                event = .tokenFailed(error)
            }
            guard !Task.isCancelled else { return }
            _ = self?.change { $0.wish == number ? $0.machine.handle(event) : [] }
        }
    }

    private func set(_ timer: SocketMachine.Timer, _ pause: Duration, _ state: inout State) {
        state.lastTimer += 1
        let (number, sleep) = (state.lastTimer, settings.environment.sleep)
        state.timers[timer]?.task.cancel()
        let task = Task { [weak self] in
            guard (try? await sleep(pause)) != nil else { return }
            _ = self?.change { state in
                guard state.timers[timer]?.number == number else { return [] }
                state.timers[timer] = nil
                return state.machine.handle(.timer(timer))
            }
        }
        state.timers[timer] = Timer(number: number, task: task)
    }
}
