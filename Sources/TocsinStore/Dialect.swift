import TocsinCore

/// What databases say differently; all else is one text for both.
package enum Dialect: String, Sendable, Hashable {
    case sqlite

    /// Starts a transaction that will write: it waits for its turn here and not at its first statement.
    var beginWriting: String {
        switch self {
        case .sqlite: "BEGIN IMMEDIATE"
        }
    }

    /// Waits, inside a writing transaction, for all others that began before; nil where there is only one at a time.
    ///
    /// Where several write at once, `beginWriting` must take the lock that this one waits for, shared.
    var changeFence: String? {
        switch self {
        case .sqlite: nil
        }
    }

    /// Starts a transaction that reads one snapshot.
    var beginReading: String {
        switch self {
        case .sqlite: "BEGIN"
        }
    }

    /// Selects the names of all indexes.
    var indexNames: String {
        switch self {
        case .sqlite: "SELECT name FROM sqlite_schema WHERE type = 'index'"
        }
    }

    /// The value of a member of the JSON column `extra`, null when it is absent.
    func extraMember(_ name: String) -> String {
        switch self {
        case .sqlite: "json_extract(extra, '$.\"\(name)\"')"
        }
    }

    /// `base` with these members set, each to a text or number that an expression gives.
    func settingMembers(_ members: [(name: String, value: String)], in base: String) -> String {
        guard !members.isEmpty else { return base }
        switch self {
        case .sqlite:
            let pairs = members.map { "'$.\"\($0.name)\"', \($0.value)" }
            return "json_set(\(base), \(pairs.joined(separator: ", ")))"
        }
    }

    /// A bound JSON text as a JSON value; what is no JSON, stored under another schema, stays the text it was.
    func jsonValue(_ placeholder: String) -> String {
        switch self {
        case .sqlite: "CASE WHEN json_valid(\(placeholder)) THEN json(\(placeholder)) ELSE \(placeholder) END"
        }
    }

    /// Whether a text contains another, byte by byte.
    func containment(of part: String, in text: String) -> String {
        switch self {
        case .sqlite: "instr(\(text), \(part)) > 0"
        }
    }

    /// Whether a JSON list has a text as a member.
    func membership(of text: String, inList list: String) -> String {
        switch self {
        case .sqlite:
            "EXISTS (SELECT 1 FROM json_each(\(list)) WHERE json_each.type = 'text' AND json_each.value = \(text))"
        }
    }

    /// Where nulls stand in an ascending order: before everything, on every database.
    func orderTerm(_ expression: String, ascending: Bool) -> String {
        switch self {
        case .sqlite: expression + (ascending ? " ASC" : " DESC")
        }
    }
}
