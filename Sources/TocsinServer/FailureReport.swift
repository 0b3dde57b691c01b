import Logging
import TocsinCore

/// Writes our own failures to the log under an id that the client is told.
struct FailureReport: Sendable {
    let logger: Logger
    let identifiers: any IdentifierSource

    @Sendable
    func callAsFunction(_ text: String) -> String {
        let id = identifiers.makeID()
        logger.error("internal failure", metadata: ["id": "\(id)", "reason": "\(text)"])
        return id
    }
}
