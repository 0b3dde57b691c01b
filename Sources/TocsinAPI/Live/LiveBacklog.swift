import TocsinCore

/// Events that owners and their groups are still to hear, in order of commit.
///
/// Owners take turns, and so do the groups of one owner. So an owner with thousands of groups, or
/// with slow filters, keeps nobody else waiting.
///
/// An event waits once for an owner until it was judged for which groups it is,
/// then once for each of these.
package struct LiveBacklog {
    /// How much may wait for one owner.
    package struct Bound: Sendable {
        /// Events, those of all the owner's groups together.
        package var events: Int
        /// Bytes of their records, of which each is kept once however many
        /// groups are to hear of it.
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
        /// It waits for room at a sender, or rests.
        var isParked = false
        /// It has rested since events were taken for it.
        var hasRested = false
    }

    private struct Owner {
        /// Events that are to be judged.
        var inbox = Line<LiveEvent>()
        /// The one of which some groups have been judged.
        var judging: LiveJudging?
        var line = Line<ObjectIdentifier>()
        /// Events that wait, here and for its groups.
        var events = 0
        /// Bytes of the records that wait.
        var bytes = 0
        /// How many of its groups are still to hear each of these events.
        var listeners: [Int: Int] = [:]
        /// It stands in the line of owners.
        var isListed = false
        /// Its turn is being taken.
        var isBusy = false
        /// Whether a turn would be of use.
        var isWaiting: Bool { !line.isEmpty || !inbox.isEmpty || judging != nil }

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
    private var busyOwners = 0
    private let maximum: Bound
    /// More owners do not have their turns at the same time: one that waits for the
    /// database keeps no other waiting.
    private static let maximumBusyOwners = 8

    /// Nothing waits; for one owner no more will than this, but for the last event's bytes.
    init(_ maximum: Bound) { self.maximum = maximum }

    /// Lets an event wait to be judged in an owner's turn; false when too much waits for the owner.
    mutating func add(_ event: LiveEvent, forOwner name: String) -> Bool {
        guard keep(event, for: name) else { return false }
        owners[name]?.inbox.append(event)
        listOwner(name)
        return true
    }

    /// Lets a group wait for its turn to hear an event; false when too much waits for its owner.
    mutating func add(_ event: LiveEvent, for group: LiveGroup) -> Bool {
        guard keep(event, for: group.owner) else { return false }
        groups[ObjectIdentifier(group), default: Waiting(group: group)].events.append(event)
        list(group)
        return true
    }

    private mutating func keep(_ event: LiveEvent, for name: String) -> Bool {
        if let owner = owners[name], owner.events >= maximum.events || owner.bytes >= maximum.bytes { return false }
        owners[name, default: Owner()].keep(event)
        return true
    }

    /// Whether it is somebody's turn.
    var isAnybodyNext: Bool { !line.isEmpty && busyOwners < Self.maximumBusyOwners }

    /// The owner whose turn it is, which lasts until `endTurn`.
    mutating func next() -> String? {
        guard isAnybodyNext, let name = line.popFirst() else { return nil }
        owners[name]?.isListed = false
        owners[name]?.isBusy = true
        busyOwners += 1
        return name
    }

    /// The owner's turn is over; it gets another one if something waits.
    mutating func endTurn(of name: String) {
        owners[name]?.isBusy = false
        busyOwners -= 1
        listOwner(name)
        settle([], of: name)
    }

    /// What was begun to be judged in the owner's last turn.
    mutating func takeJudging(of name: String) -> LiveJudging? {
        defer { owners[name]?.judging = nil }
        return owners[name]?.judging
    }

    /// The next event that is to be judged for the owner's groups.
    mutating func takeEvent(of name: String) -> LiveEvent? {
        guard let event = owners[name]?.inbox.popFirst() else { return nil }
        settle([event], of: name)
        return event
    }

    /// Keeps what was begun for the owner's next turn.
    mutating func keep(_ judging: LiveJudging, of name: String) { owners[name]?.judging = judging }

    /// The group of the owner whose turn it is; it is not listed any more.
    mutating func nextGroup(of name: String) -> LiveGroup? {
        while let id = owners[name]?.line.popFirst() {
            guard let waiting = groups[id] else { continue }
            groups[id]?.isListed = false
            return waiting.group
        }
        return nil
    }

    /// Takes the group's next events: so many at most, and none behind the one with which their
    /// records come to so many bytes.
    mutating func take(_ count: Int, bytes: Int, for group: LiveGroup) -> [LiveEvent] {
        let id = ObjectIdentifier(group)
        var left = bytes
        let taken = groups[id]?.events.popFirst(count) { event in
            defer { left -= event.record.approximateBytes }
            return left > 0
        }
        guard let events = taken else { return [] }
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
        settle(waiting.events.popFirst(waiting.events.count) { _ in true }, of: group.owner)
    }

    private mutating func listOwner(_ name: String) {
        guard let owner = owners[name], !owner.isListed, !owner.isBusy, owner.isWaiting else { return }
        owners[name]?.isListed = true
        line.append(name)
    }

    private mutating func settle(_ events: [LiveEvent], of name: String) {
        for event in events { owners[name]?.drop(event) }
        guard let owner = owners[name], owner.events == 0, !owner.isWaiting, !owner.isListed, !owner.isBusy else {
            return
        }
        owners[name] = nil
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

    /// The first so many while they are as asked, or what there is.
    mutating func popFirst(_ limit: Int, while isMeant: (Element) -> Bool) -> [Element] {
        let taken = Array(elements[start...].prefix(limit).prefix(while: isMeant))
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
