import Synchronization
package import TocsinCore

/// The system's time zone data, a file a zone, which the system keeps up to date.
///
/// UTC is known without it.
package final class ZoneFolder: ZoneSource {
    private let path: String
    private let time: any TimeSource
    private let known = Mutex<[String: (rules: ZoneRules, readAt: Timestamp)]>([:])
    private static let maximumBytes = 256 * 1024
    /// There are some six hundred names.
    private static let maximumKnown = 1024
    /// How long rules are used before the file is read again, in seconds.
    private static let keptSeconds = 60.0

    /// The zones of a folder; of the system's for an empty path.
    package init(path: String, time: any TimeSource) {
        self.path = path.isEmpty ? "/usr/share/zoneinfo" : path
        self.time = time
    }

    /// Reads a zone's file, or remembers what was read a short while ago.
    package func zone(named name: String) -> ZoneRules? {
        guard ZoneName.mayBe(name) else { return nil }
        let now = time.now()
        let earliest = now.adding(seconds: -Self.keptSeconds)
        if let known = known.withLock({ $0[name] }), (earliest...now).contains(known.readAt) { return known.rules }
        guard let rules = read(name) else { return ["UTC", "Etc/UTC"].contains(name) ? .utc : nil }
        known.withLock { known in
            if known.count >= Self.maximumKnown { known.removeAll() }
            known[name] = (rules, now)
        }
        return rules
    }

    private func read(_ name: String) -> ZoneRules? {
        (try? SystemFile.contents(of: path + "/" + name, maximumBytes: Self.maximumBytes)).flatMap {
            ZoneRules(tzif: $0)
        }
    }
}
