/// How much of the time a monitor was up.
package enum MonitorUptime {
    /// Days that are looked back, at most.
    package static let maximumDays: Int64 = 365

    /// The part of a time, 0 to 1, in which a monitor was not down.
    ///
    /// What it was paused does not count. Nil: it was not watched at all.
    package static func part(of window: Range<Timestamp>, without spells: [MonitorSpell]) -> Double? {
        func length(_ spell: MonitorSpell) -> Int64 {
            let start = max(spell.beganAt, window.lowerBound)
            let end = min(spell.endedAt ?? window.upperBound, window.upperBound)
            return max(0, end.milliseconds - start.milliseconds)
        }
        let paused = spells.filter(\.isPause).reduce(0) { $0 + length($1) }
        let down = spells.filter { !$0.isPause }.reduce(0) { $0 + length($1) }
        let watched = window.upperBound.milliseconds - window.lowerBound.milliseconds - paused
        guard watched > 0 else { return nil }
        return min(1, max(0, 1 - Double(down) / Double(watched)))
    }
}
