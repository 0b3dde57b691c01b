/// What a read may ask about timers.
package protocol TimerReading {
    /// Timers of these kinds that are due by a moment and not these owners', the oldest first, at
    /// most `limit`; nobody is kept from them.
    func dueTimers(
        of kinds: Set<TimerEntry.Kind>,
        at moment: Timestamp,
        besides owners: Set<UserID>,
        limit: Int
    ) throws(StoreError) -> [TimerEntry]
    /// Timers of any kind, those that are due first before the others, at most `limit`.
    func timers(failedOnly: Bool, limit: Int) throws(StoreError) -> [TimerEntry]
    /// The timer of this kind and subject, if there is one.
    func timer(_ kind: TimerEntry.Kind, of subject: String) throws(StoreError) -> TimerEntry?
}

/// How timers are set, claimed and removed.
package protocol TimerWriting {
    /// Inserts the timer or replaces the one of its kind and subject.
    func set(_ timer: TimerEntry) throws(StoreError)
    /// Inserts the timer, unless there is one of its kind and subject.
    func setUnlessThere(_ timer: TimerEntry) throws(StoreError)
    /// Removes the timer where it still stands as it was read; false: somebody else has it, and
    /// nothing is to be done.
    ///
    /// The removal is the claim. It is undone when the transaction is.
    func claim(_ timer: TimerEntry) throws(StoreError) -> Bool
    /// Removes the timer of this kind and subject, if there is one.
    func removeTimer(_ kind: TimerEntry.Kind, of subject: String) throws(StoreError)
    /// Writes a failure of the timer where it still stands as it was read.
    func record(_ failed: TimerEntry, of timer: TimerEntry) throws(StoreError)
}

extension TimerReading {
    /// `dueTimers` of all owners.
    package func dueTimers(
        of kinds: Set<TimerEntry.Kind>,
        at moment: Timestamp,
        limit: Int
    ) throws(StoreError) -> [TimerEntry] {
        try dueTimers(of: kinds, at: moment, besides: [], limit: limit)
    }
}
