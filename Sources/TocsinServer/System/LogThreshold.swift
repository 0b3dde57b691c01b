package import Logging
import Synchronization

/// The level below which lines of the log are not written; it may change while the server runs.
package final class LogThreshold: Sendable {
    private let index: Atomic<Int>

    /// Begins with this level.
    package init(_ level: Logger.Level) { index = Atomic(Self.index(of: level)) }

    /// The level now.
    package var level: Logger.Level {
        Self.levels[index.load(ordering: .relaxed)]
    }

    /// Sets the level for all who write from now on.
    package func set(_ level: Logger.Level) { index.store(Self.index(of: level), ordering: .relaxed) }

    private static let levels = Logger.Level.allCases

    private static func index(of level: Logger.Level) -> Int { levels.firstIndex(of: level) ?? 0 }
}
