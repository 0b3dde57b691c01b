import TocsinPostgres

/// Where the data is kept.
package enum DatabaseAddress: Sendable, Hashable, CustomStringConvertible {
    /// A file, or `:memory:`.
    case sqlite(path: String)
    /// A server's, by libpq's URL, which may hold a password.
    case postgres(url: Secret)

    /// The text of the setting; a URL is left out.
    package var description: String {
        switch self {
        case .sqlite(let path): "sqlite:" + path
        case .postgres: "postgres://" + Secret.mask
        }
    }

    /// Reads `sqlite:PATH` or a URL of PostgreSQL; the failure says what to write instead, without repeating a text that may hold a password.
    static func parsed(_ text: String) -> Result<DatabaseAddress, SettingProblem> {
        if text.hasPrefix("sqlite:") {
            var path = text.dropFirst("sqlite:".count)
            if path.hasPrefix("//") { path = path.dropFirst(2) }
            guard !path.isEmpty, !path.utf8.contains(0) else { return .failure("write sqlite:PATH, with a path") }
            return .success(.sqlite(path: String(path)))
        }
        if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            if let problem = PostgresDatabase.problem(inURL: text) { return .failure(SettingProblem(problem)) }
            return .success(.postgres(url: Secret(text)))
        }
        return .failure(
            "write sqlite:PATH, for example sqlite:/var/lib/tocsin/tocsin.db, or postgres://USER@HOST/DATABASE"
        )
    }
}
