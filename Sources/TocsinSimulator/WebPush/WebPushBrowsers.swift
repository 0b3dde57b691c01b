import Encodings
import JSON
import NIOCore
import Synchronization

/// The browsers that have subscribed at the fake push service: those it plays itself, with the keys
/// that are theirs alone, and real ones, which it cannot read for.
final class WebPushBrowsers: Sendable {
    struct Browser: Sendable {
        /// What decrypts for it; `nil` for a real browser.
        let reading: WebPushReading?
        /// The application server's key that the subscription was made with, in base 64 for URLs.
        let serverKey: String
        /// A real browser, and its own name of the subscription.
        fileprivate var holder: (agent: String, channelID: String)?
    }

    /// A real browser: its socket while it has one, and what waits for it otherwise.
    private struct Agent {
        var socket: (any Channel)?
        var waiting: [(push: JSONValue, topic: String?, endsMilliseconds: Int64)] = []
    }

    private struct State {
        var browsers: [String: Browser] = [:]
        var agents: [String: Agent] = [:]
        /// How often real browsers said which code of a push: 100 is one that they could read.
        var codes: [Int64: Int] = [:]
        /// The service's own addresses, once it listens; the first is the one given out.
        var origins: [String] = []
    }

    private let state = Mutex(State())
    /// The key that subscriptions are made with unless another is named.
    let serverKey: String
    private let nowMilliseconds: @Sendable () -> Int64

    private static let maximumBrowsers = 100_000
    private static let maximumAgents = 1000
    private static let maximumWaiting = 100
    private static let maximumLifeSeconds: Int64 = 60 * 86_400

    init(serverKey: String, nowMilliseconds: @escaping @Sendable () -> Int64) {
        self.serverKey = serverKey
        self.nowMilliseconds = nowMilliseconds
    }

    func listen(at origins: [String]) {
        state.withLock { $0.origins = origins }
    }

    var origins: [String] { state.withLock { $0.origins } }

    /// A new subscription as a browser gives it to a page; pushes to it meet the
    /// script of that name, if any.
    func subscribe(script: String?, serverKey: String?) throws(SimulatorError) -> JSONValue {
        let key = try KeyPair.makeP256()
        let auth = Self.randomBytes(16)
        let browser = Browser(
            reading: WebPushReading(key: key, authSecret: auth),
            serverKey: serverKey ?? self.serverKey
        )
        let endpoint = add(browser, (script.map { "\($0)-" } ?? "") + Self.makeID())
        return [
            "endpoint": .string(endpoint),
            "expirationTime": .null,
            "keys": ["p256dh": .string(Base64URL.encoded(key.point)), "auth": .string(Base64URL.encoded(auth))],
        ]
    }

    func browser(_ id: String) -> Browser? { state.withLock { $0.browsers[id] } }

    private func add(_ browser: Browser, _ id: String) -> String {
        state.withLock { state in
            if state.browsers.count >= Self.maximumBrowsers { state.browsers.removeAll() }
            state.browsers[id] = browser
            return "\(state.origins.first ?? "")/push/\(id)"
        }
    }

    /// The letter keeps digits of chance from being read as a script's count.
    private static func makeID() -> String { "x" + Base64URL.encoded(randomBytes(24)) }

    private static func randomBytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max) }
    }
}

/// Real browsers, by their sockets.
extension WebPushBrowsers {
    /// The id of a browser that says hello: the one it had, if this run knows it.
    func admit(_ known: String?) -> String {
        state.withLock { state in
            if let known, state.agents[known] != nil { return known }
            // Those that hold a socket stay; the others register again.
            if state.agents.count >= Self.maximumAgents {
                state.agents = state.agents.filter { $0.value.socket != nil }
            }
            let agent = Self.makeID()
            state.agents[agent] = Agent()
            return agent
        }
    }

    /// Takes a browser's socket; answers what has waited for it.
    func connect(_ agent: String, _ socket: any Channel) -> [JSONValue] {
        let now = nowMilliseconds()
        return state.withLock { state in
            let waiting = state.agents[agent]?.waiting.filter { $0.endsMilliseconds > now } ?? []
            state.agents[agent] = Agent(socket: socket)
            return waiting.map(\.push)
        }
    }

    func disconnect(_ agent: String, _ socket: any Channel) {
        state.withLock { state in
            if state.agents[agent]?.socket === socket { state.agents[agent]?.socket = nil }
        }
    }

    /// The endpoint of a new subscription.
    func register(_ channelID: String, of agent: String, serverKey: String?) -> String {
        let key = serverKey.map { $0.replacing("=", with: "") } ?? self.serverKey
        return add(Browser(reading: nil, serverKey: key, holder: (agent, channelID)), Self.makeID())
    }

    /// Ends a subscription: pushes to it are answered 410 from here on.
    func unregister(_ channelID: String, of agent: String) {
        state.withLock { state in
            state.browsers = state.browsers.filter { $0.value.holder.map { $0 == (agent, channelID) } != true }
        }
    }

    func acknowledge(_ codes: [Int64]) {
        state.withLock { state in
            // 100 to 102 are all that there are (autopush, `ack`).
            for code in codes where (100...102).contains(code) { state.codes[code, default: 0] += 1 }
        }
    }

    /// Passes a push on as it came, sealed; one for a browser that is away waits for it as long as
    /// the sender wants, and takes the place of one with its topic (RFC 8030 §5.4).
    func pass(_ push: WebPushRequest, _ sealed: [UInt8], id: String, to browser: Browser) {
        guard let holder = browser.holder else { return }
        let message: JSONValue = [
            "messageType": "notification", "channelID": .string(holder.channelID), "version": .string(id),
            "data": .string(Base64URL.encoded(sealed)), "headers": ["encoding": "aes128gcm"],
        ]
        let ends = nowMilliseconds() + min(push.lifeSeconds, Self.maximumLifeSeconds) * 1000
        let socket = state.withLock { state -> (any Channel)? in
            guard state.agents[holder.agent]?.socket == nil else { return state.agents[holder.agent]?.socket }
            if let topic = push.topic { state.agents[holder.agent]?.waiting.removeAll { $0.topic == topic } }
            state.agents[holder.agent]?.waiting.append((message, push.topic, ends))
            if state.agents[holder.agent]?.waiting.count ?? 0 > Self.maximumWaiting {
                state.agents[holder.agent]?.waiting.removeFirst()
            }
            return nil
        }
        socket?.writeAndFlush(BrowserSocket.frame(message), promise: nil)
    }

    /// Real browsers in numbers: their sockets, their subscriptions, and their answers by code.
    var json: JSONValue {
        state.withLock { state in
            var codes = JSONObject()
            for (code, count) in state.codes.sorted(by: { $0.key < $1.key }) { codes["\(code)"] = .int(Int64(count)) }
            return [
                "sockets": .int(Int64(state.agents.values.count { $0.socket != nil })),
                "subscriptions": .int(Int64(state.browsers.values.count { $0.holder != nil })),
                "answers": .object(codes),
            ]
        }
    }
}
