import TocsinCore

/// What groups are still to hear: each group's events in order of commit, the owners in turn and their groups in turn, so
/// that an owner with thousands of groups keeps nobody else waiting.
package struct LiveBacklog {
    /// How much may wait for one owner.
    package struct Bound: Sendable {
        /// Events, over all the owner's groups.
        package var events: Int
        /// Bytes of their records, of which each is kept once however many groups are to hear of it.
        package var bytes: Int

        /// What is ample for any who read.
        package init(events: Int = 65_536, bytes: Int = 67_108_864) {
            self.events = events
            self.bytes = bytes
        }
    }

    private struct Waiting {
        let group: LiveGroup
        var events = Line<LiveEvent>()
        /// It stands in its owner's line.
        var isListed = false
        /// It waits for room at a courier, or rests.
        var isParked = false
        /// It has rested since events were taken for it.
        var hasRested = false
    }

    private struct Owner {
        var line = Line<ObjectIdentifier>()
        /// Events that wait, over all its groups.
        var events = 0
        /// Bytes of the records that wait.
        var bytes = 0
        /// How many of its groups are still to hear each of these events.
        var listeners: [Int: Int] = [:]
        /// It stands in the line of owners.
        var isListed = false

        mutating func keep(_ event: LiveEvent) {
            events += 1
            let others = listeners[event.number, default: 0]
            listeners[event.number] = others + 1
            if others == 0 { bytes += event.record.approximateBytes }
        }

        mutating func drop(_ event: LiveEvent) {
            events -= 1
            let others = listeners[event.number, default: 1] - 1
            listeners[event.number] = others == 0 ? nil : others
            if others == 0 { bytes -= event.record.approximateBytes }
        }
    }

    private var groups: [ObjectIdentifier: Waiting] = [:]
    private var owners: [String: Owner] = [:]
    private var line = Line<String>()
    private let maximum: Bound

    /// Nothing waits; for one owner no more will than this, but for the last event's bytes.
    init(_ maximum: Bound) { self.maximum = maximum }

    /// Lets a group wait for its turn to hear an event; false when too much waits for its owner.
    mutating func add(_ event: LiveEvent, for group: LiveGroup) -> Bool {
        let name = group.owner
        if let owner = owners[name], owner.events >= maximum.events || owner.bytes >= maximum.bytes { return false }
        owners[name, default: Owner()].keep(event)
        groups[ObjectIdentifier(group), default: Waiting(group: group)].events.append(event)
        list(group)
        return true
    }

    /// Whether it is somebody's turn.
    var isAnybodyNext: Bool { !line.isEmpty }

    /// The group whose turn it is; it is not listed any more.
    mutating func next() -> LiveGroup? {
        while let name = line.popFirst() {
            owners[name]?.isListed = false
            guard let id = owners[name]?.line.popFirst() else { continue }
            if owners[name]?.line.isEmpty == false { listOwner(name) }
            guard let waiting = groups[id] else {
                settle([], of: name)
                continue
            }
            groups[id]?.isListed = false
            return waiting.group
        }
        return nil
    }

    /// Takes the group's next events, so many at most.
    mutating func take(_ count: Int, for group: LiveGroup) -> [LiveEvent] {
        let id = ObjectIdentifier(group)
        guard let events = groups[id]?.events.popFirst(count) else { return [] }
        settle(events, of: group.owner)
        groups[id]?.hasRested = false
        if groups[id]?.events.isEmpty == true { groups[id] = nil }
        return events
    }

    /// Gives the group a turn again, if events wait for it.
    mutating func list(_ group: LiveGroup) {
        let id = ObjectIdentifier(group)
        guard let waiting = groups[id], !waiting.isListed, !waiting.isParked else { return }
        groups[id]?.isListed = true
        owners[group.owner]?.line.append(id)
        listOwner(group.owner)
    }

    /// Gives the group no turn until it is unparked.
    mutating func park(_ group: LiveGroup) { groups[ObjectIdentifier(group)]?.isParked = true }

    /// Gives a parked group turns again.
    mutating func unpark(_ group: LiveGroup) {
        groups[ObjectIdentifier(group)]?.isParked = false
        list(group)
    }

    /// Whether the group is to rest before its next events are taken: once for each time.
    mutating func beginRest(of group: LiveGroup) -> Bool {
        let id = ObjectIdentifier(group)
        guard groups[id]?.hasRested == false else { return false }
        groups[id]?.hasRested = true
        return true
    }

    /// Forgets what waits for a group.
    mutating func remove(_ group: LiveGroup) {
        guard var waiting = groups.removeValue(forKey: ObjectIdentifier(group)) else { return }
        settle(waiting.events.popFirst(waiting.events.count), of: group.owner)
    }

    private mutating func listOwner(_ name: String) {
        guard owners[name]?.isListed == false else { return }
        owners[name]?.isListed = true
        line.append(name)
    }

    private mutating func settle(_ events: [LiveEvent], of name: String) {
        for event in events { owners[name]?.drop(event) }
        if let owner = owners[name], owner.events == 0, owner.line.isEmpty, !owner.isListed { owners[name] = nil }
    }
}

/// First in, first out, without moving what is in it each time.
struct Line<Element> {
    private var elements: [Element] = []
    private var start = 0

    var count: Int { elements.count - start }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer { drop(1) }
        return elements[start]
    }

    /// The first so many, or what there is.
    mutating func popFirst(_ limit: Int) -> [Element] {
        let taken = Array(elements[start...].prefix(limit))
        drop(taken.count)
        return taken
    }

    private mutating func drop(_ count: Int) {
        start += count
        if start == elements.count {
            elements.removeAll(keepingCapacity: start <= 64)
            start = 0
        } else if start >= 1024, start * 2 >= elements.count {
            elements.removeFirst(start)
            start = 0
        }
    }
}
