/// Who asks for something about people and groups.
package enum Authority: Sendable {
    /// A command on the data directory: whoever has the data is trusted.
    case shell
    case caller(Identity)

    /// Throws `unauthorized` for who may not manage people.
    func requireAdmin(writing: Bool = true) throws(ServiceError) {
        guard isAdmin(writing: writing) else { throw .unauthorized }
    }

    /// Whether people and groups may be managed, or looked at.
    package func isAdmin(writing: Bool) -> Bool {
        switch self {
        case .shell: true
        case .caller(let caller): caller.isAdmin && AccessPolicy.mayManageOwnThings(caller, writing: writing)
        }
    }

    /// For whom something is read.
    var reads: ReadOrigin {
        switch self {
        case .shell: .server
        case .caller(let caller): caller.reads
        }
    }

    /// Who asks; nil for a command.
    var userID: UserID? {
        switch self {
        case .shell: nil
        case .caller(let caller): caller.userID
        }
    }
}
