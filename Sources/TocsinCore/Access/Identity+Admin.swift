extension Identity {
    /// Whether the caller administers the server; nobody does by a token yet.
    package var isAdmin: Bool { false }
}
