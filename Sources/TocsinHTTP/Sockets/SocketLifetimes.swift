import Synchronization

/// How long each socket and event stream may live.
///
/// It is a tenth more or less, so that those opened at one time do not all come back at one time.
final class SocketLifetimes: Sendable {
    private let milliseconds: Int64
    private let opened = Atomic(0)

    /// Lifetimes around this one; 0 for ever.
    init(milliseconds: Int) { self.milliseconds = Int64(milliseconds) }

    /// The lifetime of the next one, in milliseconds; `nil` when it has no end.
    func next() -> Int64? {
        guard milliseconds > 0 else { return nil }
        // Multiples of the golden ratio fill the unit interval evenly, however many there are.
        let number = Double(opened.add(1, ordering: .relaxed).newValue)
        let place = (number * 0.618_033_988_749_895).truncatingRemainder(dividingBy: 1)
        return milliseconds + Int64(Double(milliseconds) * (place - 0.5) / 5)
    }
}
