import Encodings
import Synchronization

/// The value of `Date`, written once a second.
final class DateField: Sendable {
    private let now: @Sendable () -> Int64
    private let last = Mutex<(second: Int64, text: [UInt8])>((-1, []))

    /// A clock that takes Unix milliseconds from `now`.
    init(now: @escaping @Sendable () -> Int64) { self.now = now }

    /// The present time.
    var text: [UInt8] {
        let second = now() / 1000
        return last.withLock { last in
            if last.second != second { last = (second, Array(HTTPDate.text(secondsSince1970: second).utf8)) }
            return last.text
        }
    }
}
