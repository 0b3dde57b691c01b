import NIOCore

/// When the next connect may be tried: doubling pauses after failures.
struct ConnectBackoff {
    private let first: Double
    private let maximum: Double
    private var pause: Double?
    private(set) var notBefore = NIODeadline.uninitialized
    /// Why the last connect failed, or the last connection ended before it was of use.
    private(set) var reason = ""

    init(firstSeconds: Double, maximumSeconds: Double) {
        first = firstSeconds
        maximum = maximumSeconds
    }

    func isDue(_ now: NIODeadline) -> Bool { now >= notBefore }

    mutating func fail(_ reason: String, at now: NIODeadline) {
        let next = min(pause.map { $0 * 2 } ?? first, maximum)
        pause = next
        notBefore = now + .nanoseconds(Int64(next * 1e9))
        self.reason = reason
    }

    mutating func succeed() {
        pause = nil
        notBefore = .uninitialized
    }
}

extension NIODeadline {
    /// A time that has always passed.
    fileprivate static var uninitialized: NIODeadline { .uptimeNanoseconds(0) }
}
