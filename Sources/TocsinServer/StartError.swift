import TocsinAPI
import TocsinCore
import TocsinHTTP

/// Why the server cannot start, in a sentence that says what to do.
package struct StartError: Error, Sendable, CustomStringConvertible {
    /// What stops the start, and what to do.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
