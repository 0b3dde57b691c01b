/// When the clocks of a time zone change, and by how much they differ from UTC.
///
/// Times of a wall's clock are seconds since 1970 as if the wall hung in UTC.
package struct ZoneRules: Sendable, Hashable {
    /// A moment from which the clocks differ by another offset.
    struct Change: Sendable, Hashable {
        /// Seconds since 1970.
        var at: Int64
        /// Seconds east of UTC from then on.
        var offset: Int64
    }

    /// Seconds east of UTC before the first change.
    private let firstOffset: Int64
    /// In the order of time, none twice.
    private let changes: [Change]
    /// No clock differs more, in seconds.
    private static let maximumOffset: Int64 = 26 * 3600

    /// Clocks that show UTC.
    package static let utc = ZoneRules(firstOffset: 0, changes: [])

    init(firstOffset: Int64, changes: [Change]) {
        (self.firstOffset, self.changes) = (firstOffset, changes)
    }

    /// How far the clocks are ahead of UTC at a moment, in seconds; negative west of it.
    package func offset(at moment: Int64) -> Int64 { offset(behind: firstLater(than: moment)) }

    /// The moments at which the clocks show a time.
    package enum Moments: Sendable, Hashable {
        case one(Int64)
        /// The clocks were turned back over it: they show it twice.
        case two(first: Int64, second: Int64)
        /// The clocks were turned forward over it, at this moment: they never show it.
        case skipped(at: Int64)
    }

    /// When the clocks show a time.
    package func moments(ofWall wall: Int64) -> Moments {
        let near = firstLater(than: wall - Self.maximumOffset - 1)..<firstLater(than: wall + Self.maximumOffset)
        var before = offset(behind: near.lowerBound)
        var (found, skip): ([Int64], Int64?) = ([], nil)
        if isShown(wall, with: before) { found.append(wall - before) }
        for change in changes[near] {
            if change.at + before <= wall, wall < change.at + change.offset { skip = change.at }
            let moment = wall - change.offset
            if isShown(wall, with: change.offset), !found.contains(moment) { found.append(moment) }
            before = change.offset
        }
        guard let first = found.min(), let last = found.max() else { return .skipped(at: skip ?? wall - before) }
        return first == last ? .one(first) : .two(first: first, second: last)
    }

    /// The least and the greatest offset that the clocks have between two moments.
    func offsets(from start: Int64, to end: Int64) -> ClosedRange<Int64> {
        var (least, greatest) = (offset(at: start), offset(at: start))
        for change in changes[firstLater(than: start)..<firstLater(than: end)] {
            (least, greatest) = (min(least, change.offset), max(greatest, change.offset))
        }
        return least...greatest
    }

    private func isShown(_ wall: Int64, with offset: Int64) -> Bool { self.offset(at: wall - offset) == offset }

    private func offset(behind index: Int) -> Int64 { index == 0 ? firstOffset : changes[index - 1].offset }

    /// The index of the first change after a moment.
    private func firstLater(than moment: Int64) -> Int {
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].at <= moment { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
