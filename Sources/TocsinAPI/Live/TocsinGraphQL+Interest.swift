import GraphQL
import JSON
import TocsinCore

// What a subscription asks for, and where it resumes.
extension TocsinGraphQL {
    func interest(
        _ field: SubscriptionSource,
        _ caller: Identity,
        resumeAfter: String?
    ) async throws(ServiceError) -> (interest: LiveInterest, start: FeedStart?) {
        let (model, change): (ModelType, RecordChange) =
            switch schema.operations["Subscription.\(field.fieldName)"] {
            case .onCreate(let model): (model, .created)
            case .onUpdate(let model): (model, .updated)
            case .onDelete(let model): (model, .deleted)
            default: throw .internal("subscription \(field.fieldName) has no source")
            }
        guard case .allow(let visible) = AccessPolicy.decision(.listen, on: model, for: caller) else {
            throw .unauthorized
        }
        var interest = LiveInterest(model: model, change: change, predicate: visible)
        interest.filter = try FilterTranslation.subscriptionPredicate(
            field.arguments["filter"],
            on: model,
            limits: services.checks.limits,
            caller: caller
        )
        interest.filterBytes = field.arguments["filter"]?.serialized() ?? []
        for rule in model.rules.filter({ $0.covers(.listen) }).compactMap(\.owner) {
            let owner = field.arguments[rule.field]?.stringValue ?? ""
            guard !owner.isEmpty else { continue }
            if caller.isMeant(by: owner, claim: rule.claim) {
                // Who names themselves wants their own records, and none that are shared with them.
                interest.predicate = interest.predicate.withoutGrants
                continue
            }
            // Who may hear of everybody's records may choose whose; others
            // name nobody but themselves.
            guard visible == .always, let position = model.position(of: rule.field) else { throw .unauthorized }
            let isOwner: Comparison = model.fields[position].isList ? .contains(owner) : .equal(.text(owner))
            interest.filter = interest.filter.and(.field(position, isOwner))
            interest.filterBytes += Array("\(position)=\(owner)\0".utf8)
        }
        // A cursor stands in the feed of one's own messages, or of one topic: who names one wants
        // that feed alone.
        if interest.change == .created, field.arguments["topicId"]?.stringValue == nil,
            field.arguments["after"]?.stringValue != nil
        {
            interest.predicate = interest.predicate.withoutGrants
        }
        interest.byRules = interest.predicate.withoutGrants
        interest.grantQuestion = interest.predicate.grantQuestions.first
        let start = try await restrictToFeed(&interest, field, caller, resumeAfter)
        return (interest, start)
    }

    /// Narrows a subscription to one feed.
    ///
    /// `topicId` names the feed of a topic. `after` resumes that feed, or the feed of all the
    /// caller's topics. What a client that comes again has seen last is taken instead of `after`,
    /// wherever the client first began.
    private func restrictToFeed(
        _ interest: inout LiveInterest,
        _ field: SubscriptionSource,
        _ caller: Identity,
        _ resumeAfter: String?
    ) async throws(ServiceError) -> FeedStart? {
        guard interest.change == .created, interest.model === schema.messages,
            let position = interest.model.position(of: "topicId")
        else { return nil }
        let topic = field.arguments["topicId"]?.stringValue.map { TopicID($0) }
        let after = field.arguments["after"]?.stringValue
        let lastSeen = resumeAfter.flatMap { $0.isEmpty ? nil : $0 }
        let opening = FeedOpening(services: services, caller: caller)
        let start = try await opening.start(topic: topic, cursor: lastSeen ?? after)
        interest.feed = start?.scope
        guard let topic else { return start }
        // Whether a grant still holds is not asked at each message: the subscription ends with it.
        let isByGrant = start?.isByGrant == true
        interest.predicate = interest.predicate.settled(granted: isByGrant)
            .and(.field(position, .equal(.text(topic.text))))
        interest.topicID = topic
        interest.needsGrant = isByGrant
        if !isByGrant { interest.grantQuestion = nil }
        return start
    }
}
