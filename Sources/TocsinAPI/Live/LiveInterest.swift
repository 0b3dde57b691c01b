import TocsinCore

/// What happened to a record.
enum RecordChange: Hashable, Sendable, CaseIterable {
    case created, updated, deleted

    init?(_ event: DomainEvent) {
        switch event {
        case .created: self = .created
        case .updated: self = .updated
        case .deleted: self = .deleted
        case .outboxFilled, .webhooksFilled, .deliveryChanged, .deviceEnded, .pushesUnwanted, .incidentAnswered,
            .accessEnded, .grantsChanged, .rightsChanged:
            return nil
        case .readMarksChanged: return nil
        }
    }
}

/// How events find the groups that may want them: cost depends on the groups
/// matched, not on all subscribers.
struct InterestKey: Hashable, Sendable {
    /// By what somebody hears of records that the model's rules do not give them.
    enum Sharing: Hashable, Sendable {
        /// They named this topic, which is shared with them.
        case topic(TopicID)
        /// They named none, and hear of all topics that are shared with this subject.
        case subject(GrantSubject)
    }

    var model: String
    var change: RecordChange
    /// The stored owner of the record; nil for models that others than the owner may listen to.
    var owner: String?
    /// nil for those who hear of records by the model's rules.
    var sharing: Sharing?
}

/// What a subscription asks for.
struct LiveInterest: Sendable {
    var model: ModelType
    var change: RecordChange
    /// Visibility and topic together.
    var predicate: Predicate
    /// The subscriber's own filter: it compares with owners as clients see them (`ShownOwner`).
    var filter = Predicate.always
    /// Filters of the same bytes are the same filter.
    var filterBytes: [UInt8] = []
    /// The topic that the subscription names.
    var topicID: TopicID?
    /// What the rules alone let the caller hear of.
    var byRules = Predicate.always
    /// What is asked of grants, where they let the caller hear of more than the rules do.
    var grantQuestion: GrantQuestion?
    /// Whether the caller may hear of the topic it names by a grant alone, with which it ends.
    var needsGrant = false
    /// The feed whose new messages these are, where they are those of one feed: then events have
    /// offsets in it, which can be resumed.
    var feed: FeedScope?

    /// Whether the subscriber is to hear of a record that they may read.
    func includes(_ record: Record) -> Bool {
        predicate.matches(record) { _ in true } && (filter == .always || filter.matches(record.withShownOwners))
    }
}

extension Record {
    /// The same with its owners as clients see them, as filters do.
    var withShownOwners: Record {
        var shown = self
        for rule in model.ownerRules {
            guard let position = model.position(of: rule.field) else { continue }
            shown.values[position] = ShownOwner.value(values[position])
        }
        return shown
    }
}

extension DomainEvent {
    /// The record of a change.
    var record: Record? {
        switch self {
        case .created(let record), .updated(let record), .deleted(let record): record
        case .outboxFilled, .webhooksFilled, .deliveryChanged, .deviceEnded, .pushesUnwanted, .incidentAnswered,
            .accessEnded, .grantsChanged, .rightsChanged:
            nil
        case .readMarksChanged: nil
        }
    }
}
