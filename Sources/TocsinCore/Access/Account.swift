/// A local user account.
package struct Account: Sendable, Hashable {
    /// What an account stands for.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A person.
        case local = "LOCAL"
        /// A program: no password, and tokens that others look after.
        case service = "SERVICE"
    }

    /// Who looks after a service account.
    package enum Manager: Sendable, Hashable {
        case user(UserID)
        /// Every member of the local group of this name.
        case group(String)
    }

    /// The `sub` of the account's tokens.
    package var id: UserID
    /// Unique.
    package var name: String
    /// Self-describing text (algorithm, parameters, salt, hash); nil: cannot
    /// sign in with a password.
    package var passwordHash: String?
    /// Whether all access of the account has ended until it is enabled again.
    package var isDisabled: Bool
    /// When the account was added.
    package var createdAt: Timestamp
    /// Whether it stands for a person or a program.
    package var kind = Kind.local
    /// Whether the account may manage people and groups.
    package var isAdmin = false
    /// Whether a person who is no admin may make groups, and manage those that they made.
    package var isGroupMaker = false
    /// Who looks after a service account; nil: admins alone.
    package var manager: Manager?
    /// When a token of the account was used last, to the hour; nil: never.
    package var lastSeenAt: Timestamp?
    /// When the account's groups or flags changed last; nil: never.
    package var rightsChangedAt: Timestamp?

    /// An account from its stored values; nothing is checked here.
    package init(id: UserID, name: String, passwordHash: String?, isDisabled: Bool, createdAt: Timestamp) {
        self.id = id
        self.name = name
        self.passwordHash = passwordHash
        self.isDisabled = isDisabled
        self.createdAt = createdAt
    }
}

// What accounts may be called.
extension Account {
    /// Why a name cannot be an account's; nil where it can.
    ///
    /// It is 1 to 64 bytes of printable characters without spaces or `::`. It must not look like a
    /// UUID, as ids do (`OwnerText`).
    static func problem(inName name: String) -> String? {
        let isPrintable = name.unicodeScalars.allSatisfy { $0 != " " && Group.isPrintable($0) }
        guard !name.isEmpty, name.utf8.count <= 64, isPrintable, !containsSeparator(name) else {
            return "A user name is 1 to 64 bytes of printable characters, without spaces or '::'."
        }
        guard !OwnerText.isSubject(name) else {
            return "A user name may not have the form of a UUID, as users' ids have it."
        }
        return nil
    }

    private static func containsSeparator(_ name: String) -> Bool {
        zip(name.utf8, name.utf8.dropFirst()).contains { $0 == UInt8(ascii: ":") && $1 == UInt8(ascii: ":") }
    }
}

// A manager as the database keeps it.
extension Account.Manager {
    /// `user:<id>` or `group:<name>`.
    package var text: String {
        switch self {
        case .user(let id): "user:" + id.text
        case .group(let name): "group:" + name
        }
    }

    /// Reads what `text` wrote; nil for other texts.
    package init?(text: String) {
        // By scalars, for a name may begin with a mark on the colon.
        let parts = text.unicodeScalars.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        switch String(parts[0]) {
        case "user": self = .user(UserID(String(parts[1])))
        case "group": self = .group(String(parts[1]))
        default: return nil
        }
    }

    /// Whether the caller is the user, or a member of the group, by the bytes of their names.
    package func covers(_ caller: Identity) -> Bool {
        switch self {
        case .user(let id): caller.isPerson && caller.userID.text.hasBytes(of: id.text)
        case .group(let name): caller.localGroups.contains { $0.hasBytes(of: name) }
        }
    }
}
