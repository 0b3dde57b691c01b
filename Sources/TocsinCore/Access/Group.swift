/// A group whose members are local users.
package struct Group: Sendable, Hashable {
    /// Names the group in the API and the database.
    package var id: GroupID
    /// Unique; what rules and grants call the group.
    package var name: String
    /// What people say of it.
    package var description: String?
    /// Who made it; nil: a command on the data directory.
    package var createdBy: UserID?
    /// When it was made.
    package var createdAt: Timestamp

    /// A group from its stored values; nothing is checked here.
    package init(id: GroupID, name: String, description: String?, createdBy: UserID?, createdAt: Timestamp) {
        self.id = id
        self.name = name
        self.description = description
        self.createdBy = createdBy
        self.createdAt = createdAt
    }

    /// The longest name, in characters as Unicode counts them.
    static let maximumNameCharacters = 64
    /// The longest description, in bytes.
    static let maximumDescriptionBytes = 1024

    /// Why a name cannot be a group's; nil where it can.
    static func problem(inName name: String) -> String? {
        let scalars = name.unicodeScalars
        guard (1...maximumNameCharacters).contains(scalars.count), scalars.allSatisfy(isPrintable),
            scalars.first != " ", scalars.last != " "
        else {
            return "A group's name is 1 to \(maximumNameCharacters) printable characters, with no space at its ends."
        }
        // By bytes: a mark on the colon makes another letter of it, and no other beginning.
        guard !name.utf8.starts(with: ClaimedGroups.prefix.utf8) else {
            return "A group's name may not begin with \(ClaimedGroups.prefix) as groups of a sign-in provider do."
        }
        return nil
    }

    /// Whether a character is seen and turns no other around.
    static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}

/// How long somebody was, or has been, in a local group.
package struct GroupSpan: Sendable, Hashable {
    /// The group's name.
    package var name: String
    /// When they came in.
    package var joinedAt: Timestamp
    /// When they left, or the group went; nil while they are in it.
    package var leftAt: Timestamp?

    /// A span of these bounds.
    package init(name: String, joinedAt: Timestamp, leftAt: Timestamp?) {
        (self.name, self.joinedAt, self.leftAt) = (name, joinedAt, leftAt)
    }
}
