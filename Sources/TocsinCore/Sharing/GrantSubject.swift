/// Whom a grant is for.
///
/// Subjects compare by bytes, as the database does: two spellings of a letter are two groups.
package enum GrantSubject: Sendable {
    case user(UserID)
    case group(String)
    /// Everybody who has signed in.
    case signedIn

    /// The kinds of subjects, by their public names.
    package enum Kind: String, Sendable, Hashable { case user = "USER", group = "GROUP", signedIn = "SIGNED_IN" }

    /// Groups of one caller that count at most.
    package static let maximumGroups = 200

    /// All subjects that a caller is: nobody for API keys, and for tokens that name no person.
    package static func of(_ caller: Identity) -> [GrantSubject] {
        guard caller.isPerson else { return [] }
        return [.user(caller.userID)] + groups(of: caller).map { .group($0) } + [.signedIn]
    }

    /// The groups that a caller is in.
    package static func groups(of caller: Identity) -> ArraySlice<String> {
        caller.groups.filter { !$0.isEmpty }.prefix(maximumGroups)
    }

    /// Its kind.
    package var kind: Kind {
        switch self {
        case .user: .user
        case .group: .group
        case .signedIn: .signedIn
        }
    }

    /// The user's id or the group's name; empty for everybody.
    package var name: String {
        switch self {
        case .user(let user): user.text
        case .group(let name): name
        case .signedIn: ""
        }
    }

    /// As it is stored, and written in the journal.
    package var text: String { self == .signedIn ? Kind.signedIn.rawValue : "\(kind.rawValue):\(name)" }

    /// The subject of a stored text; nil for a text of another kind.
    package init?(text: String) {
        let parts = text.unicodeScalars.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts.count == 2 ? String(parts[1]) : ""
        switch Kind(rawValue: String(parts[0])) {
        case .user? where parts.count == 2: self = .user(UserID(name))
        case .group? where parts.count == 2: self = .group(name)
        case .signedIn? where parts.count == 1: self = .signedIn
        default: return nil
        }
    }
}

extension GrantSubject: Hashable {
    /// Whether both are of one kind and the same bytes.
    package static func == (left: Self, right: Self) -> Bool {
        left.kind == right.kind && left.name.hasBytes(of: right.name)
    }

    /// Hashes the bytes that `==` compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        for byte in name.utf8 { hasher.combine(byte) }
    }
}
