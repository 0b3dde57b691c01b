import TocsinCore

private enum SQL {
    static let isMuted = "SELECT 1 FROM muted_users WHERE user_id = $1"
    static let mute = "INSERT INTO muted_users (user_id, muted_at) VALUES ($1, $2) ON CONFLICT (user_id) DO NOTHING"
    static let unmute = "DELETE FROM muted_users WHERE user_id = $1"
}

extension SQLReading {
    func isMuted(_ user: UserID) throws(StoreError) -> Bool {
        try connection.first(SQL.isMuted, [.text(user.text)]) { $0.int(0) } != nil
    }
}

extension SQLWriter {
    func setMuted(_ isMuted: Bool, of user: UserID, now: Timestamp) throws(StoreError) {
        try connection.run(
            isMuted ? SQL.mute : SQL.unmute,
            isMuted ? [.text(user.text), SQLValue(now)] : [.text(user.text)]
        )
        if isMuted { note(.pushesUnwanted(user, nil, .notificationsOff)) }
    }
}
