/// How long a token lasts on a machine whose clock may be wrong: by the server's clock where that
/// was heard, else by the token's own times, counted from its arrival.
struct TokenLife {
    /// The server's clock less our uptime.
    private(set) var serverOffset: Duration?
    /// Clocks closer than this count as equal; a `Date` has whole seconds.
    private static let tolerance: Duration = .seconds(2)
    /// A wall clock this far before a token's making is wrong.
    private static let mostEarly: Int64 = 60

    /// Takes the server's time, in seconds since 1970; says whether the offset has changed.
    mutating func heard(serverSeconds: Int64, uptime: Duration) -> Bool {
        let offset = .seconds(serverSeconds) - uptime
        if let serverOffset, abs(serverOffset, offset) <= Self.tolerance { return false }
        serverOffset = offset
        return true
    }

    /// The uptime at which a token ends; `nil` where nothing tells.
    func end(of claims: TokenClaims, uptime: Duration, wallClock: Duration) -> Duration? {
        guard let end = claims.endsAt else { return nil }
        if let serverOffset { return .seconds(end) - serverOffset }
        let now = wallClock.components.seconds
        guard let issue = claims.issuedAt else {
            return end > now ? uptime + .seconds(end - now) : nil
        }
        let isPlausible = now >= issue - Self.mostEarly && now < end
        return uptime + (isPlausible ? .seconds(end) - wallClock : .seconds(max(0, end - issue)))
    }

    /// The uptime of a moment that the server or the provider has named.
    func uptime(ofSeconds moment: Duration, uptime: Duration, wallClock: Duration, byServer: Bool) -> Duration? {
        if byServer, let serverOffset { return moment - serverOffset }
        return moment > wallClock ? uptime + (moment - wallClock) : nil
    }

    /// When a newer token should be asked for, some time before the end; `random` is from 0 up
    /// to 1.
    static func renewal(before end: Duration, from start: Duration, random: Double) -> Duration {
        let life = max(.zero, end - start)
        // A minute is nearly all of a short life.
        let lead = min(max(.seconds(60), life / 10), life / 2)
        return end - lead - life / 20 * random
    }

    private func abs(_ one: Duration, _ other: Duration) -> Duration { one < other ? other - one : one - other }
}
