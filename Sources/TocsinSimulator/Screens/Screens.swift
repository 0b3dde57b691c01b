import JSON

/// The phones behind device tokens, within a bounded memory.
struct Screens: Sendable {
    private var phones: [String: Phone] = [:]
    /// Notifications on all screens.
    private var notifications = 0
    /// Pushes to phones beyond those that are remembered.
    private var beyond = 0
    /// The last texts, so that a message to many phones is kept once.
    private var last = Arrival()

    private let maximumPhones: Int
    /// On one screen, and on all of them together.
    private static let maximumShown = 100
    private static let maximumNotifications = 1_000_000

    init(maximumPhones: Int) {
        self.maximumPhones = maximumPhones
    }

    mutating func receive(_ arrival: Arrival, at token: String, now: Int64) {
        guard phones.count < maximumPhones || phones[token] != nil else {
            beyond += 1
            return
        }
        let arrival = shared(arrival)
        change(token) { $0.receive(arrival, now: now) }
    }

    mutating func setOnline(_ online: Bool, token: String, now: Int64) {
        change(token) { $0.setOnline(online, now: now) }
    }

    private mutating func change(_ token: String, _ body: (inout Phone) -> Void) {
        let isFull = notifications >= Self.maximumNotifications
        let added = withPhone(token) { phone in
            let before = phone.shown.count
            body(&phone)
            while phone.shown.count > (isFull ? max(1, before) : Self.maximumShown) { phone.dropOldest() }
            return phone.shown.count - before
        }
        notifications += added
    }

    private mutating func withPhone(_ token: String, _ body: (inout Phone) -> Int) -> Int {
        body(&phones[token, default: Phone()])
    }

    private mutating func shared(_ arrival: Arrival) -> Arrival {
        var arrival = arrival
        if arrival.title == last.title { arrival.title = last.title }
        if arrival.body == last.body { arrival.body = last.body }
        if arrival.replaceKey == last.replaceKey { arrival.replaceKey = last.replaceKey }
        if arrival.app == last.app { arrival.app = last.app }
        last = arrival
        return arrival
    }

    /// One phone's screen; `nil` when nothing was ever sent to it.
    mutating func screen(_ token: String, now: Int64) -> JSONValue? {
        guard phones[token] != nil else { return nil }
        change(token) { $0.settle(now: now) }
        return phones[token].map { .object($0.json) }
    }

    /// All phones in numbers; `byShown` counts phones by how many notifications they show.
    var json: JSONValue {
        var byShown: [Int: Int] = [:]
        var (alerts, replaced, quiet) = (0, 0, 0)
        for phone in phones.values {
            byShown[phone.shown.count, default: 0] += 1
            alerts += phone.alerts
            replaced += phone.replaced
            quiet += phone.quiet
        }
        var counts = JSONObject()
        for (shown, count) in byShown.sorted(by: { $0.key < $1.key }) { counts["\(shown)"] = .int(Int64(count)) }
        return [
            "phones": .int(Int64(phones.count)), "byShown": .object(counts), "alerts": .int(Int64(alerts)),
            "replaced": .int(Int64(replaced)), "quiet": .int(Int64(quiet)), "beyond": .int(Int64(beyond)),
        ]
    }
}
