import TocsinCore

/// How a group of writes is run, and how often it was begun again; its closures leave nothing
/// outside, so that they may.
struct GroupAttempt {
    /// Each batch in a savepoint: one that fails is undone alone.
    var inSavepoints = false
    /// Begun when no other write was under way, on any node.
    private(set) var isFenced = false
    /// Waits for no lock for long: one was waited for in vain, and which write
    /// needs it is to be found out.
    private(set) var isHurried = false
    private var overtaken = 0
    private var losses = 0
    private static let mostOvertaken = 4
    /// Locks that a hurried group waits for in vain, each for a short time
    /// (`Dialect.beginWriting`).
    ///
    /// It finds one bad write among 256 in nine waits. Beyond this number the whole group is
    /// refused, while its callers still wait for an answer.
    static let mostBlocked = 64

    /// Whether one more attempt may go better, which this is changed for.
    mutating func prepareAnother(of count: Int, after error: StoreError, isLost: Bool, wantsFence: Bool) -> Bool {
        if wantsFence, !isFenced {
            isFenced = true
            return true
        }
        switch error {
        case .overtaken where overtaken < Self.mostOvertaken:
            overtaken += 1
            return true
        // Lost before the commit, or known not to have been committed.
        case .unavailable where isLost && losses == 0:
            losses += 1
            return true
        case .unavailable where error.isBlocked && !isHurried && count > 1:
            (isHurried, inSavepoints) = (true, true)
            return true
        case .overtaken, .unavailable, .uncertain, .statement, .unstorable, .mismatch, .tooLarge, .stopped:
            return false
        }
    }

    /// Throws the failure of a write when the whole group is to end for it.
    func check(_ error: StoreError, _ connection: any SQLConnection) throws(StoreError) {
        if case .overtaken = error, overtaken < Self.mostOvertaken { throw error }
        // Waited for by one write after the other, a lock would keep the group longer than
        // anybody waits for an answer.
        if error.isBlocked, !isHurried { throw error }
        // Some failures (a full disk) end the whole transaction, and with it
        // the writes before this one.
        guard connection.isInTransaction else { throw error }
    }
}

extension StoreError {
    /// What a write is told that has waited for a lock in vain.
    package static let blocked = "something else has locked what this write needs"

    var isBlocked: Bool {
        guard case .unavailable(Self.blocked, _) = self else { return false }
        return true
    }
}

extension GroupAttempt {
    /// The failure of one write; another that was in its way once too often is told as what
    /// it did to the statement.
    static func writeFailure(_ error: StoreError) -> StoreError {
        guard case .overtaken(let isWhole, let code, let message, let sql) = error else { return error }
        return isWhole ? crowded(error) : .statement(code: code, message: message, sql: sql)
    }

    /// Nothing of the group is stored, or nobody knows, whatever failed: its callers may try again.
    static func groupFailure(_ error: StoreError) -> StoreError {
        switch error {
        case .unavailable, .uncertain: error
        case .overtaken: crowded(error)
        case .statement, .unstorable, .mismatch, .tooLarge, .stopped:
            .unavailable(reason: "the database failed", detail: error.description)
        }
    }

    private static func crowded(_ error: StoreError) -> StoreError {
        .unavailable(reason: "other writes were in the way; try again in a moment", detail: error.description)
    }
}
