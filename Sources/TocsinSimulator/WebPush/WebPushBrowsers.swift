import COpenSSL
import Encodings
import JSON
import Synchronization

/// The browsers that have subscribed at the fake push service, with the keys that are theirs alone.
final class WebPushBrowsers: Sendable {
    struct Browser: Sendable {
        let reading: WebPushReading
        /// The application server's key that the subscription was made with, in base 64 for URLs.
        let serverKey: String
    }

    private struct State {
        var browsers: [String: Browser] = [:]
        /// The service's own addresses, once it listens; the first is the one given out.
        var origins: [String] = []
    }

    private let state = Mutex(State())
    /// The key that subscriptions are made with unless another is named.
    let serverKey: String

    private static let maximumBrowsers = 100_000

    init(serverKey: String) {
        self.serverKey = serverKey
    }

    func listen(at origins: [String]) {
        state.withLock { $0.origins = origins }
    }

    var origins: [String] { state.withLock { $0.origins } }

    /// A new subscription as a browser gives it to a page; pushes to it meet the
    /// script of that name, if any.
    func subscribe(script: String?, serverKey: String?) throws(SimulatorError) -> JSONValue {
        let key = try KeyPair.makeP256()
        var bytes = [UInt8](repeating: 0, count: 40)
        guard RAND_bytes(&bytes, Int32(bytes.count)) == 1 else {
            throw SimulatorError.keys(reason: "the system gives no random numbers")
        }
        let auth = Array(bytes[..<16])
        // The letter keeps digits of chance from being read as a script's count.
        let id = (script.map { "\($0)-" } ?? "") + "x" + Base64URL.encoded(Array(bytes[16...]))
        let browser = Browser(
            reading: WebPushReading(key: key, authSecret: auth),
            serverKey: serverKey ?? self.serverKey
        )
        let origin = state.withLock { state in
            if state.browsers.count >= Self.maximumBrowsers { state.browsers.removeAll() }
            state.browsers[id] = browser
            return state.origins.first ?? ""
        }
        return [
            "endpoint": .string("\(origin)/push/\(id)"),
            "expirationTime": .null,
            "keys": ["p256dh": .string(Base64URL.encoded(key.point)), "auth": .string(Base64URL.encoded(auth))],
        ]
    }

    func browser(_ id: String) -> Browser? { state.withLock { $0.browsers[id] } }
}
