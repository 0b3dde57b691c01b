/// The topics of drafts that are performed together, each by its place here: what is known of one is found without its id.
struct BatchTopics {
    private struct Topic {
        /// As it was when it was looked at last; nil while it was not, or is not there.
        var record: Record?
        /// Who was judged last by that, and how.
        var judged: (caller: Identity, mayPublish: Bool)?
    }

    private var topics: [Topic]
    private var names = NamePlaces<TopicID>()
    /// The place of each draft's topic.
    let places: [Int]

    init(of drafts: [MessageDraft]) {
        var names = NamePlaces<TopicID>()
        places = drafts.map { names.place(of: $0.topicID) }
        topics = names.names.map { _ in Topic() }
        self.names = names
    }

    /// By place.
    var ids: [TopicID] { names.names }

    /// Takes the topics as they are; those that are not among them are not there.
    mutating func see(_ record: (TopicID) -> Record?) {
        for place in topics.indices { topics[place] = Topic(record: record(ids[place])) }
    }

    /// Whether a draft's message may be made in its topic, at this place, as that was seen last.
    ///
    /// Drafts that follow each other are mostly of one caller, who is judged once.
    mutating func mayPublish(_ draft: MessageDraft, in place: Int) -> Bool {
        if let judged = topics[place].judged, judged.caller.isOne(with: draft.caller) { return judged.mayPublish }
        let mayPublish = topics[place].record.map(draft.mayPublish) ?? false
        topics[place].judged = (draft.caller, mayPublish)
        return mayPublish
    }
}

/// Names, each with a place: that of its first appearance.
///
/// The same name again costs no search.
struct NamePlaces<Name: Hashable> {
    /// By place.
    private(set) var names: [Name] = []
    private var places: [Name: Int] = [:]
    private var last: Int?

    mutating func place(of name: Name) -> Int {
        if let last, names[last] == name { return last }
        let place = places[name] ?? names.count
        if place == names.count {
            names.append(name)
            places[name] = place
        }
        last = place
        return place
    }
}
