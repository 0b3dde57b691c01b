import GraphQLTransport
import JSON

/// Many feeds over one socket after another: what happens comes in, what to do goes out.
///
/// It does nothing itself and reads no clock.
///
/// - One socket is open while any feed wants it. A lost one is opened again after a pause, for as
///   long as it takes (`ReturnPauses`).
/// - A feed whose reader is behind is parked: its operation alone is completed, and begins again
///   after its last cursor when the reader has caught up. The others feel nothing.
/// - A newer token is shown on the open socket. Only if that fails is the socket changed.
package struct SocketMachine {
    /// One reader's feed, told from all before it on this socket.
    package typealias FeedID = Int

    /// What can happen.
    package enum Event: Sendable {
        /// A reader has come.
        case follow(FeedID, any SocketOperation)
        /// A reader has gone.
        case leave(FeedID)
        /// These credentials are good to use.
        case token(HeldCredentials)
        /// There are no credentials for us.
        case tokenFailed(ClientError)
        /// The socket is open.
        case opened
        /// The socket could not be opened.
        case openFailed(ClientError)
        /// The server said something.
        case text([UInt8])
        /// The socket is closed, with the peer's code if there was one.
        case closed(code: Int?, reason: String)
        /// A timer has run out.
        case timer(Timer)
        /// The network has changed.
        case network(isUsable: Bool)
        /// The application goes to the background.
        case pause
        /// The application comes back.
        case resume
        /// All feeds are to end, for this reason.
        case finish(ClientError)
    }

    /// What to do, in order.
    package enum Action: Sendable {
        /// Get credentials and tell `token` or `tokenFailed`; ends an earlier wish.
        case askForToken(TokenWish)
        /// Open a socket and tell `opened` or `openFailed`.
        case open
        /// Send a text message.
        case send([UInt8])
        /// Close the socket, or stop opening it; nothing more is to be told of it.
        case close
        /// Tell `timer` after this time, unless it is set again or cancelled.
        case setTimer(Timer, Duration)
        /// Forget the timer.
        case cancelTimer(Timer)
        /// Set `.renewal` to when a token newer than this one should be asked for; the server may
        /// have said when this one ends, in milliseconds since 1970.
        case watchRenewal(HeldCredentials, serverSays: Int64?)
        /// There is something to take for the reader.
        case wake(FeedID)
        /// Tell whoever watches the connection.
        case tell(Change)
    }

    /// Which credentials are wanted.
    package enum TokenWish: Sendable {
        case usable
        case newer(than: HeldCredentials)
        case replacement(for: HeldCredentials, ClientError)
    }

    /// The timers.
    package enum Timer: Hashable, Sendable {
        /// The pause before the next attempt.
        case pause
        /// The server must acknowledge by then.
        case handshake
        /// The server must answer a ping by then.
        case pong
        /// The server must have judged a newer token by then.
        case proof
        /// A newer token is due.
        case renewal
        /// The socket has worked for so long that its failures are forgotten.
        case steady
        /// A feed's own pause; or it has worked for so long that its failures are forgotten.
        case feed(FeedID)
    }

    /// What becomes of the connection.
    package enum Change: Sendable {
        case idle, connecting, live, paused
        case waiting(Duration, ClientError)
        case signedOut(ClientError)
    }

    enum Phase {
        /// No feed wants the socket.
        case idle
        /// Waits for the timer `pause`.
        case waiting
        /// Waits for credentials.
        case asking
        case opening
        /// Waits for the acknowledgement.
        case greeting
        case ready
        /// Until the application comes back.
        case paused
    }

    /// The most feeds on one socket, which is the server's bound.
    package static let mostFeeds = 100
    /// How long a newer token may take to be judged.
    static let proofTimeout: Duration = .seconds(10)
    /// How long a server may take to show that it is there, after the network has changed.
    static let probeTimeout: Duration = .seconds(5)
    /// After working for so long, failures are forgotten.
    static let steadyTime: Duration = .seconds(10)

    let settings: ClientSettings
    let random: @Sendable () -> Double
    var phase = Phase.idle
    var session: TransportWSClientSession?
    var held: HeldCredentials?
    /// The newer token that the server is judging.
    var proving: HeldCredentials?
    var feeds: [FeedID: FeedSlot] = [:]
    /// The feed of each running operation.
    var operations: [String: FeedID] = [:]
    var lastOperation = 0
    /// The ping whose answer will say that feeds are live.
    var livePing: Int?
    var lastPing = 0
    /// The server says when stored messages have all come.
    var tellsReplays = false
    var pauses: ReturnPauses
    var actions: [Action] = []

    /// A machine without feeds; `random` is from 0 up to 1.
    package init(settings: ClientSettings, random: @escaping @Sendable () -> Double) {
        self.settings = settings
        self.random = random
        pauses = ReturnPauses(settings)
    }

    /// Whether another feed has room.
    package var hasRoom: Bool { feeds.count < Self.mostFeeds }

    /// Takes what happened and says what to do.
    package mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .follow(let id, let operation): follow(id, operation)
        case .leave(let id): leave(id)
        case .token(let held): took(held)
        case .tokenFailed(let error): tokenFailed(error)
        case .opened: opened()
        case .openFailed(let error): openFailed(error)
        case .text(let bytes): received(bytes)
        case .closed(let code, let reason): lost(FeedFailure(closeCode: code, reason: reason))
        case .timer(let timer): timeIsUp(timer)
        case .network(let isUsable): networkChanged(isUsable)
        case .pause: pause()
        case .resume: resume()
        case .finish(let error): endAll(error)
        }
        pingIfNeeded()
        defer { actions = [] }
        return actions
    }
}
