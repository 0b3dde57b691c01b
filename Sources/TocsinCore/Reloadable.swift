import Synchronization

/// A value that may be replaced while it is in use.
///
/// Whoever reads it gets one whole value, old or new, and keeps it until it reads again. So a part
/// reads it once for each piece of work.
package final class Reloadable<Value: Sendable>: Sendable {
    /// A value that is a closure would be wrapped anew by each access.
    private struct State: Sendable {
        var value: Value
    }

    private let state: Mutex<State>

    /// Begins with this value.
    package init(_ value: Value) { state = Mutex(State(value: value)) }

    /// The value now; never waits.
    package var value: Value { state.withLock { $0.value } }

    /// Gives this value to all who read from now on.
    package func replace(with value: Value) { state.withLock { $0.value = value } }
}
