/// What a read may ask about monitors, beside their records.
package protocol MonitorReading {
    /// What the server knows of a monitor.
    func monitorFacts(_ id: String) throws(StoreError) -> MonitorFacts?
    /// Pings of a monitor before a number, the latest first.
    func pings(of monitor: String, before number: Int64, limit: Int) throws(StoreError) -> [StoredPing]
    /// When a monitor was down or paused, as far as it was after a moment.
    func monitorSpells(of monitor: String, after moment: Timestamp) throws(StoreError) -> [MonitorSpell]
    /// When pings could last arrive; nil: nobody has looked yet.
    func monitorWatch() throws(StoreError) -> MonitorWatch?
}

/// How monitors are written, beside their records.
package protocol MonitorWriting {
    /// Replaces what the server knows of a monitor.
    func save(_ facts: MonitorFacts, of monitor: String) throws(StoreError)
    /// Keeps a ping, and removes those of the monitor before the last so many.
    func insert(_ ping: StoredPing, of monitor: String, keeping count: Int64) throws(StoreError)
    /// Inserts the spell or replaces the end of the one that began then; removes those of the
    /// monitor that ended before a moment.
    func save(_ spell: MonitorSpell, of monitor: String, removingEndedBefore moment: Timestamp) throws(StoreError)
    /// Notes when pings could last arrive.
    func save(_ watch: MonitorWatch) throws(StoreError)
    /// Removes all that hangs on a monitor but its keys.
    func removeMonitorRows(of monitor: String) throws(StoreError)
}

/// What the server knows of a monitor beside its record.
package struct MonitorFacts: Sendable, Equatable {
    /// Grows with each timer.
    package var generation: Int64 = 0
    /// The number of the last ping.
    package var lastPing: Int64 = 0
    /// Fail pings in a row.
    package var failures: Int64 = 0
    /// Successes in a row.
    package var successes: Int64 = 0
    /// When the first ping came.
    package var firstPingAt: Timestamp?
    /// When the last success came.
    package var lastSuccessAt: Timestamp?
    /// The work that has begun and has not ended.
    package var run: MonitorStanding.Run?
    /// When a pause ends.
    package var pausedUntil: Timestamp?
    /// Nothing is missed before this moment.
    package var forgivenUntil: Timestamp?
    /// When it went down, or was paused; nil: neither.
    package var spellBeganAt: Timestamp?

    /// Of a monitor that was just made.
    package init() {}
}

/// A time in which a monitor was down or paused.
package struct MonitorSpell: Sendable, Equatable {
    /// When it began.
    package var beganAt: Timestamp
    /// When it ended; nil: it goes on.
    package var endedAt: Timestamp?
    /// Whether it was paused; else it was down.
    package var isPause: Bool

    /// A spell of these parts.
    package init(beganAt: Timestamp, endedAt: Timestamp?, isPause: Bool) {
        (self.beganAt, self.endedAt, self.isPause) = (beganAt, endedAt, isPause)
    }
}
