import Logging
import TocsinStore

/// Words for the log what becomes of connections to the database.
enum ConnectionLog {
    static func write(_ news: ConnectionNews, to logger: Logger) {
        switch news {
        case .lost(let detail):
            logger.warning("the connection to the database was lost; making another", metadata: ["reason": "\(detail)"])
        case .away(let error, let trouble):
            logger.warning(
                "the database cannot be reached; trying again",
                metadata: [
                    "reason": "\(error)", "failed_attempts": "\(trouble.attempts)",
                    "away_ms": "\(trouble.awayMilliseconds)", "retry_in_ms": "\(trouble.retryMilliseconds)",
                ]
            )
        case .back(let milliseconds, let attempts):
            logger.notice(
                "the database is reached again",
                metadata: ["away_ms": "\(milliseconds)", "failed_attempts": "\(attempts)"]
            )
        case .passed(let server, let count):
            logger.warning(
                "a server of the database did not answer in time; trying another",
                metadata: ["server": "\(server)", "servers": "\(count)"]
            )
        case .readOnly(let error, let attempts):
            logger.warning(
                "the database takes no writes; trying again",
                metadata: ["reason": "\(error)", "failed_attempts": "\(attempts)"]
            )
        case .writable(let attempts):
            logger.notice("the database takes writes again", metadata: ["failed_attempts": "\(attempts)"])
        }
    }
}
