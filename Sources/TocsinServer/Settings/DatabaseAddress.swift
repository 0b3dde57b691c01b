/// Where the data is kept.
package enum DatabaseAddress: Sendable, Hashable, CustomStringConvertible {
    /// A file, or `:memory:`.
    case sqlite(path: String)

    /// The text of the setting.
    package var description: String {
        switch self {
        case .sqlite(let path): "sqlite:" + path
        }
    }

    /// Reads `sqlite:PATH`; the failure says what to write instead, without repeating a text that may hold a password.
    static func parsed(_ text: String) -> Result<DatabaseAddress, SettingProblem> {
        if text.hasPrefix("sqlite:") {
            var path = text.dropFirst("sqlite:".count)
            if path.hasPrefix("//") { path = path.dropFirst(2) }
            guard !path.isEmpty, !path.utf8.contains(0) else { return .failure("write sqlite:PATH, with a path") }
            return .success(.sqlite(path: String(path)))
        }
        if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            return .failure("PostgreSQL comes with a later release; use sqlite:PATH, or leave the setting out")
        }
        return .failure("write sqlite:PATH, for example sqlite:/var/lib/tocsin/tocsin.db")
    }
}
