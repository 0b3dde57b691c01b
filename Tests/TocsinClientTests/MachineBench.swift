import GraphQLTransport
import JSON
import TocsinClient

/// A socket machine and what it wants: the test is the world around it.
struct MachineBench {
    private(set) var machine: SocketMachine
    private(set) var sent: [JSONValue] = []
    /// The timers that are set.
    private(set) var timers: [SocketMachine.Timer: Duration] = [:]
    private(set) var changes: [SocketMachine.Change] = []
    private(set) var wish: SocketMachine.TokenWish?
    /// Whether the machine wants a socket to be open or opened.
    private(set) var wantsSocket = false
    private(set) var isOpen = false
    private var lastToken = 1

    init(_ settings: ClientSettings = ClientSettings(), random: @escaping @Sendable () -> Double = { 0 }) {
        machine = SocketMachine(settings: settings, random: random)
    }

    mutating func handle(_ event: SocketMachine.Event) { perform(machine.handle(event)) }

    /// What its reader finds.
    mutating func take(_ id: Int) -> SocketMachine.Taken {
        let (taken, actions) = machine.take(id)
        perform(actions)
        return taken
    }

    /// All that waits for a reader.
    mutating func takeAll(_ id: Int) -> [FeedItem] {
        var items: [FeedItem] = []
        while case .item(let item) = take(id) { items.append(item) }
        return items
    }

    mutating func fire(_ timer: SocketMachine.Timer) {
        guard timers.removeValue(forKey: timer) != nil else { return }
        handle(.timer(timer))
    }

    /// Gives the token that is asked for.
    mutating func giveToken() {
        guard let wish else { return }
        self.wish = nil
        if case .usable = wish {} else { lastToken += 1 }
        handle(.token(HeldCredentials(number: lastToken, credentials: Credentials(authorization: "t\(lastToken)"))))
    }

    mutating func open() {
        isOpen = true
        handle(.opened)
    }

    mutating func text(_ message: JSONValue) { handle(.text(message.serialized())) }

    mutating func close(code: Int?) {
        isOpen = false
        wantsSocket = false
        handle(.closed(code: code, reason: ""))
    }

    /// Goes through all steps until operations are served.
    mutating func connect(_ welcome: JSONObject = [:]) {
        giveToken()
        open()
        text(["type": "connection_ack", "payload": .object(welcome)])
    }

    mutating func takeSent() -> [JSONValue] {
        defer { sent = [] }
        return sent
    }

    private mutating func perform(_ actions: [SocketMachine.Action]) {
        for action in actions {
            switch action {
            case .send(let bytes): if let message = try? JSONParser.parse(bytes) { sent.append(message) }
            case .open: wantsSocket = true
            case .close:
                wantsSocket = false
                isOpen = false
                sent = []
            case .askForToken(let wish): self.wish = wish
            case .setTimer(let timer, let pause): timers[timer] = pause
            case .cancelTimer(let timer): timers[timer] = nil
            case .watchRenewal: timers[.renewal] = .seconds(1)
            case .tell(let change): changes.append(change)
            case .wake: break
            }
        }
    }
}

extension FeedItem {
    var message: FeedMessage? { if case .message(let message) = self { message } else { nil } }
    /// Why nothing comes any more.
    var end: ClientError.Code? { if case .end(let error) = self { error?.code } else { nil } }
}
