import TocsinPostgres

/// Where the data is kept.
package enum DatabaseAddress: Sendable, Hashable, CustomStringConvertible {
    /// A file, or `:memory:`.
    case sqlite(path: String)
    /// A connection URL as libpq reads it; may hold a password.
    case postgres(url: Secret)

    /// The text of the setting, without what must not be seen.
    package var description: String {
        switch self {
        case .sqlite(let path): "sqlite:" + path
        case .postgres(let url): Self.masked(url.contents)
        }
    }

    /// Reads `sqlite:PATH` or `postgres://…`; the failure says what to write instead, without repeating a text that may hold
    /// a password.
    static func parsed(_ text: String) -> Result<DatabaseAddress, SettingProblem> {
        if text.hasPrefix("sqlite:") {
            var path = text.dropFirst("sqlite:".count)
            if path.hasPrefix("//") { path = path.dropFirst(2) }
            guard !path.isEmpty, !path.utf8.contains(0) else { return .failure("write sqlite:PATH, with a path") }
            return .success(.sqlite(path: String(path)))
        }
        if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            if let problem = PostgresDatabase.problem(inURL: text) {
                return .failure(
                    """
                    \(problem): write postgres://USER:PASSWORD@HOST:PORT/DATABASE as libpq reads it, special characters as %XX
                    """
                )
            }
            return .success(.postgres(url: Secret(text)))
        }
        return .failure("write sqlite:PATH or postgres://…, for example sqlite:/var/lib/tocsin/tocsin.db")
    }

    /// Scheme, user, hosts and database: passwords stand before the @, or among what follows the question mark.
    private static func masked(_ url: String) -> String {
        let place = url.prefix { $0 != "?" }
        guard let slashes = place.firstRange(of: "://"), let sign = place.lastIndex(of: "@") else {
            return String(place)
        }
        let user = place[slashes.upperBound..<sign].prefix { $0 != ":" }
        return String(place[..<slashes.upperBound] + user + place[sign...])
    }
}
