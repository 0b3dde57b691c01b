/// How long clients stay away from a server that they have lost, so that many do not come back
/// together: pauses from zero up to a bound that doubles, without a limit of tries.
struct ReturnPauses {
    /// The spread after a stop that the server has named.
    var serverSpread: Duration?
    /// While the application says that there is no network, attempts are rare.
    var isNetworkUsable = true
    private(set) var failures = 0
    private let settings: ClientSettings

    /// When the network or the application is back.
    static let soon: Duration = .milliseconds(300)
    /// The least pause after a close whose cause does not pass quickly.
    static let slow: Duration = .seconds(10)
    /// More than this is not waited, whatever a server asks for.
    static let longestAsked: Duration = .seconds(300)

    init(_ settings: ClientSettings) { self.settings = settings }

    mutating func forgetFailures() { failures = 0 }

    /// Counts a failure and answers the pause before the next attempt; `random` is from 0 up to 1.
    mutating func pause(after failure: FeedFailure, random: () -> Double) -> Duration {
        failures += 1
        let window = settings.feedPauses.pause(afterFailures: failures, random: random())
        let pause: Duration =
            switch failure.closeCode {
            case 1001?: max(.zero, min(serverSpread ?? settings.stopSpread, Self.longestAsked)) * random()
            case 4408?, 4429?, 4500?: Self.slow + window
            default: failure.code == .unavailable ? atLeast(failure.retryAfter, window, random) : window
            }
        return isNetworkUsable ? pause : max(pause, settings.feedPauses.longest)
    }

    /// 1013, 503, 429: the server has too much to do.
    private func atLeast(_ asked: Duration?, _ window: Duration, _ random: () -> Double) -> Duration {
        max(min(asked ?? .zero, Self.longestAsked), window) + settings.overloadSpread * random()
    }
}
