import TocsinCore

/// Whom an event may concern, found by its model, change, owner and topic alone: no filter of
/// a subscriber's is judged.
struct LiveIndex {
    /// Groups with one filter.
    private struct Listeners {
        let filter: Predicate
        var groups: [ObjectIdentifier: LiveGroup]
    }

    /// Groups of one owner whose callers have the same rights: they may hear of the same records.
    private struct Audience {
        let visible: Predicate
        /// Visibility is decided without a search in texts.
        let isVisibilityCheap: Bool
        /// By the bytes of their filters: two spellings of a letter are two filters.
        var listeners: [[UInt8]: Listeners] = [:]

        init(visible: Predicate) {
            self.visible = visible
            isVisibilityCheap = visible.searchedFields.isEmpty
        }

        /// Whether an event may be theirs to hear, as far as that takes no time.
        func mayHear(_ event: LiveEvent) -> Bool {
            !isVisibilityCheap || visible.matches(event.record, isGranted: event.isGranted)
        }

        mutating func add(_ group: LiveGroup) {
            let listeners = Listeners(filter: group.interest.filter, groups: [:])
            self.listeners[group.interest.filterBytes, default: listeners].groups[ObjectIdentifier(group)] = group
        }

        mutating func remove(_ group: LiveGroup) {
            let bytes = group.interest.filterBytes
            listeners[bytes]?.groups[ObjectIdentifier(group)] = nil
            if listeners[bytes]?.groups.isEmpty == true { listeners[bytes] = nil }
        }
    }

    /// Audiences by their owners and the callers' rights.
    private typealias Crowd = [String: [CallerRights: Audience]]
    /// By what they ask for and the topic they name, if any.
    private var crowds: [InterestKey: [TopicID?: Crowd]] = [:]

    mutating func add(_ group: LiveGroup) {
        let interest = group.interest
        for key in group.interestKeys {
            let audience = Audience(visible: interest.predicate)
            crowds[key, default: [:]][interest.topicID, default: [:]][group.owner, default: [:]][
                group.key.rights,
                default: audience
            ].add(group)
        }
    }

    mutating func remove(_ group: LiveGroup) {
        let (topic, owner, rights) = (group.interest.topicID, group.owner, group.key.rights)
        for key in group.interestKeys {
            crowds[key]?[topic]?[owner]?[rights]?.remove(group)
            if crowds[key]?[topic]?[owner]?[rights]?.listeners.isEmpty == true {
                crowds[key]?[topic]?[owner]?[rights] = nil
            }
            if crowds[key]?[topic]?[owner]?.isEmpty == true { crowds[key]?[topic]?[owner] = nil }
            if crowds[key]?[topic]?.isEmpty == true { crowds[key]?[topic] = nil }
            if crowds[key]?.isEmpty == true { crowds[key] = nil }
        }
    }

    /// Whether anybody listens to such changes.
    func hasListeners(_ key: InterestKey) -> Bool { crowds[key] != nil }

    /// Whose groups may want to hear of a change.
    func owners(of event: LiveEvent) -> Set<String> {
        var owners: Set<String> = []
        for crowd in crowds(event) {
            for (owner, audiences) in crowd where !owners.contains(owner) {
                if audiences.values.contains(where: { $0.mayHear(event) }) { owners.insert(owner) }
            }
        }
        return owners
    }

    /// The owner's groups that may want to hear of a change: those with one filter together.
    func candidates(of owner: String, for event: LiveEvent) -> [LiveJudging.Candidate] {
        var candidates: [LiveJudging.Candidate] = []
        // Who has rights by rules and by grants, or by several grants, hears of it once.
        var seen: Set<CallerRights>? = event.grants == nil ? nil : []
        for crowd in crowds(event) {
            for (rights, audience) in crowd[owner, default: [:]] where audience.mayHear(event) {
                if seen?.insert(rights).inserted == false { continue }
                for listeners in audience.listeners.values {
                    candidates.append(
                        LiveJudging.Candidate(
                            visible: audience.visible,
                            filter: listeners.filter,
                            groups: Array(listeners.groups.values)
                        )
                    )
                }
            }
        }
        return candidates
    }

    private func crowds(_ event: LiveEvent) -> [Crowd] {
        let (change, record) = (event.change, event.record)
        let anybodys = InterestKey(model: record.model.name, change: change, owner: nil)
        var keys = [anybodys]
        if let owner = record.owner { keys.append(InterestKey(model: record.model.name, change: change, owner: owner)) }
        var topics: [TopicID?] = [nil]
        if let topic = record["topicId"].text { topics.append(TopicID(topic)) }
        let found = keys.flatMap { key -> [Crowd] in
            guard let crowds = crowds[key] else { return [] }
            return topics.compactMap { crowds[$0] }
        }
        guard let grants = event.grants else { return found }
        return found + sharing(event, grants)
    }

    /// Those who hear of a change in a topic because it is shared with them.
    private func sharing(_ event: LiveEvent, _ grants: TopicGrants) -> [Crowd] {
        guard let topic = event.record.sharedTopic else { return [] }
        var key = InterestKey(model: event.record.model.name, change: event.change, owner: nil)
        key.sharing = .topic(topic)
        var found = [crowds[key]?[topic]].compactMap(\.self)
        for subject in grants.subjects {
            key.sharing = .subject(subject)
            if let crowd = crowds[key]?[nil] { found.append(crowd) }
        }
        return found
    }
}

extension LiveGroup {
    /// The keys under which events for this caller are found.
    ///
    /// They are today's owner text and the two older forms, each of which may be in a row. Where
    /// people other than the owner may listen, the key is every row of the model.
    fileprivate var interestKeys: [InterestKey] {
        let model = interest.model
        var key = InterestKey(model: model.name, change: interest.change, owner: nil)
        if let topic = interest.topicID, interest.needsGrant {
            key.sharing = .topic(topic)
            return [key]
        }
        let rules = model.rules.filter { $0.covers(.listen) }
        let isList = model.position(of: "owner").map { model.fields[$0].isList } ?? true
        let isByOwner = !isList && rules.allSatisfy { $0.owner?.field == "owner" }
        let forms = rules.compactMap(\.owner).flatMap { context.caller.ownerForms(of: $0.claim) }
        let owners: Set<String?> = isByOwner ? Set(forms) : [nil]
        let byRules = owners.map { InterestKey(model: model.name, change: interest.change, owner: $0) }
        guard let question = interest.grantQuestion, interest.topicID == nil else { return byRules }
        return byRules
            + question.subjects.map { subject in
                key.sharing = .subject(subject)
                return key
            }
    }
}
