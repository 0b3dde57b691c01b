import Logging
import TocsinStore

/// Words for the log what becomes of connections to the database.
enum ConnectionLog {
    static func write(_ news: ConnectionNews, to logger: Logger) {
        switch news {
        case .lost(let detail):
            logger.warning(
                "the connection to the database was lost; making another",
                metadata: ["event": "database_connection_lost", "reason": "\(detail)"]
            )
        case .away(let error, let trouble):
            logger.warning(
                "the database cannot be reached; trying again",
                metadata: [
                    "event": "database_away", "reason": "\(error)",
                    "failed_attempts": .stringConvertible(trouble.attempts),
                    "away_ms": .stringConvertible(trouble.awayMilliseconds),
                    "retry_in_ms": .stringConvertible(trouble.retryMilliseconds),
                ]
            )
        case .back(let milliseconds, let attempts):
            logger.notice(
                "the database is reached again",
                metadata: [
                    "event": "database_back", "away_ms": .stringConvertible(milliseconds),
                    "failed_attempts": .stringConvertible(attempts),
                ]
            )
        case .passed(let server, let count):
            logger.warning(
                "a server of the database did not answer in time; trying another",
                metadata: [
                    "event": "database_server_passed", "server": "\(server)", "servers": .stringConvertible(count),
                ]
            )
        case .readOnly(let error, let attempts):
            logger.warning(
                "the database takes no writes; trying again",
                metadata: [
                    "event": "database_read_only", "reason": "\(error)",
                    "failed_attempts": .stringConvertible(attempts),
                ]
            )
        case .writable(let attempts):
            logger.notice(
                "the database takes writes again",
                metadata: ["event": "database_writable", "failed_attempts": .stringConvertible(attempts)]
            )
        }
    }
}
