public import FoundationEssentials
import JSON

/// A person who has signed in with a password, as an app keeps it between its starts.
///
/// It holds a secret, so its place is the Keychain or the like. Printing it shows no token.
public struct UserSession: Sendable, Hashable, Codable {
    /// What is shown to the server.
    public let token: String
    /// The session's id, as the server lists it.
    public let id: String
    /// Who has signed in.
    public let userID: String
    /// Their name.
    public let username: String
    /// When it is over unless it is used before: the server moves this with each use.
    public let expiresAt: Date

    /// Reads the server's `SignedIn`; nil when a part is missing.
    init?(_ json: JSONValue?) {
        guard let token = json?["token"]?.stringValue, let id = json?["sessionId"]?.stringValue,
            let userID = json?["userId"]?.stringValue, let username = json?["username"]?.stringValue,
            let end = json?["expiresAt"]?.stringValue,
            let expiresAt = try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(end)
        else { return nil }
        (self.token, self.id, self.userID, self.username) = (token, id, userID, username)
        self.expiresAt = expiresAt
    }
}

extension UserSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Who has signed in, without the token.
    public var description: String { "<session of \(username)>" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// Shows no members.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
