/// What a sync tells of topics that were shared with the caller since the last one, and of those
/// that are so no more (`docs/sharing.md`).
///
/// What became visible comes in full, whenever it was made. What was lost comes as tombstones that
/// say nothing but which record it is.
struct SharingSync: Sendable {
    private let runs: SyncRuns
    private let limits: ExaminationLimits
    private let question: GrantQuestion
    private let isTopic: Bool
    private let caller: Identity
    private var model: ModelType { runs.model }
    /// Messages of one topic that are told to be lost; of larger topics the topic alone is told of.
    static let maximumLost: Int64 = 10_000

    /// nil for models that are not shared, and callers to whom nothing can be granted.
    init?(runs: SyncRuns, caller: Identity, limits: ExaminationLimits) {
        guard let sharing = runs.model.sharing, let question = runs.visible.grantQuestions.first else { return nil }
        (self.runs, self.limits, self.question, isTopic) = (runs, limits, question, sharing.isTopic)
        self.caller = caller
    }

    /// One topic of one run.
    private struct Step {
        var run: SyncPosition.Run
        var topic: TopicID
        /// When it was lost.
        var endedAt = Timestamp(milliseconds: 0)

        func isBefore(_ position: SyncPosition) -> Bool {
            (run.rawValue, topic.text) < (position.run.rawValue, position.topic)
        }
    }

    /// Adds what is to be told to the last page of the changes, or makes a page of its own.
    func add(to page: inout SyncPage, from start: SyncPosition, _ reader: any StoreReader) throws(StoreError) {
        let isBehind = start.run > .revised
        guard let since = start.since, isBehind || page.next == nil else { return }
        page.next = nil
        for step in try steps(since: Timestamp(milliseconds: since), reader) {
            if isBehind, step.isBefore(start) { continue }
            var position = SyncPosition(startedAt: start.startedAt, since: start.since, run: step.run)
            position.topic = step.topic.text
            if isBehind, step.run == start.run, step.topic.text == start.topic { position.after = start.after }
            let room = runs.limit - page.records.count
            guard room > 0 else {
                page.next = position
                return
            }
            let found = try self.page(
                of: step,
                since: Timestamp(milliseconds: since),
                after: position.after,
                limit: room,
                reader
            )
            page.records += found.records
            page.bytes += found.bytes
            guard let end = found.end else { continue }
            position.after = end
            page.next = position
            return
        }
    }

    private func steps(since: Timestamp, _ reader: any StoreReader) throws(StoreError) -> [Step] {
        let spans = try reader.groupSpans(of: caller.userID, since: since)
        let gained = try gainedTopics(since: since, spans, reader)
        let lost = try lostTopics(since: since, spans, reader)
        var steps = gained.map { Step(run: .gained, topic: $0) }
        guard !lost.isEmpty else { return steps }
        let held = try reader.roles(of: question.subjects, in: Array(lost.keys))
        for (topic, endedAt) in lost.sorted(by: { $0.key.text < $1.key.text })
        where held.roles(of: question.subjects, in: topic).isDisjoint(with: question.need) {
            steps.append(Step(run: .lost, topic: topic, endedAt: endedAt))
        }
        return steps
    }

    /// Topics that came with a grant, or with a group that the caller came into.
    private func gainedTopics(
        since: Timestamp,
        _ spans: [GroupSpan],
        _ reader: any StoreReader
    ) throws(StoreError) -> [TopicID] {
        let gained = try reader.gainedTopics(question.subjects, question.need, since: since)
        let joined = joinedGroups(spans)
        guard !joined.isEmpty else { return gained }
        let all = try reader.gainedTopics(joined, question.need, since: Timestamp(milliseconds: 0))
        return Set(gained + all).sorted { $0.text < $1.text }
    }

    /// Topics whose grant has ended while the caller was who it was for, with the end.
    private func lostTopics(
        since: Timestamp,
        _ spans: [GroupSpan],
        _ reader: any StoreReader
    ) throws(StoreError) -> [TopicID: Timestamp] {
        let joined = Set(joinedGroups(spans))
        var lost = try reader.lostTopics(question.subjects.filter { !joined.contains($0) }, since: since)
        for span in spans {
            let found = try reader.lostTopics([.group(span.name)], since: max(since, span.joinedAt))
            for (topic, end) in found where span.leftAt.map({ end <= $0 }) ?? true {
                lost[topic] = max(end, lost[topic] ?? end)
            }
        }
        return lost
    }

    /// The groups that the caller came into lately and is in.
    private func joinedGroups(_ spans: [GroupSpan]) -> [GrantSubject] {
        let groups = spans.filter { $0.leftAt == nil }.map { GrantSubject.group($0.name) }
        return groups.filter { question.subjects.contains($0) }
    }

    private func page(
        of step: Step,
        since: Timestamp,
        after: [FieldValue],
        limit: Int,
        _ reader: any StoreReader
    ) throws(StoreError) -> RecordPage {
        guard let key = model.keyPosition, let made = model.position(of: ModelType.makingTime),
            let revised = model.position(of: ModelType.revisionTime)
        else {
            throw .mismatch(reason: "\(model.name) has no times of change, so it cannot be synchronised.")
        }
        let isLost = step.run == .lost
        var range = Predicate.field(question.field, .equal(.text(step.topic.text)))
        if isLost {
            guard try isTold(step, reader) else { return RecordPage(records: []) }
            // What was made later was never theirs.
            range = range.and(.field(made, .lessOrEqual(.int(step.endedAt.milliseconds))))
        }
        // What was made or changed since then was told of by the runs before.
        let isOlder = Predicate.field(made, .less(.int(since.milliseconds))).and(
            .any([.field(revised, .exists(false)), .field(revised, .less(.int(since.milliseconds)))])
        )
        let query = PageQuery(
            model,
            range: range,
            visible: isLost ? lost : runs.visible,
            filter: isLost ? .always : isOlder.and(runs.filter),
            order: [ModelQuery.Order(field: made), ModelQuery.Order(field: model.numberPosition ?? key)],
            after: after.isEmpty ? nil : after,
            limit: limit,
            fields: isLost ? Set([key, model.knownPositions.id, model.knownPositions.version].compactMap(\.self)) : nil
        )
        var found = try reader.pages([query], limits)[0]
        if isLost {
            found.records = found.records.map { $0.lost(at: step.endedAt) }
        } else {
            found.records = try reader.shown(found.records, to: caller, by: .sync)
        }
        return found
    }

    /// What only grants showed to the caller, as far as the token at hand reaches.
    private var lost: Predicate {
        let (within, still) = (runs.visible.settled(granted: true), runs.visible.withoutGrants)
        return still == .never ? within : within.and(.not(still))
    }

    /// Whether what is lost was the caller's to see by a grant alone, and is not too much.
    private func isTold(_ step: Step, _ reader: any StoreReader) throws(StoreError) -> Bool {
        if isTopic {
            let topic = try reader.records(model, ids: [step.topic.text], where: runs.visible.withoutGrants)
            return topic.isEmpty
        }
        guard let bounds = try reader.feedBounds(of: step.topic) else { return false }
        return bounds.last - bounds.first < Self.maximumLost
    }
}

extension Record {
    /// The tombstone of a record that somebody may not read any more: which one it is and nothing
    /// else, but for empty values where the schema lets none be missing.
    fileprivate func lost(at moment: Timestamp) -> Record {
        var record = Record(model: model)
        for (position, field) in model.fields.enumerated() where field.isRequired {
            record.values[position] = field.emptyValue(at: moment)
        }
        record["id"] = self["id"]
        if let key = model.keyPosition { record.values[key] = values[key] }
        record["_deleted"] = .bool(true)
        // Clients take what is of a later version than theirs.
        record["_version"] = .int(version + 1)
        record["_lastChangedAt"] = .int(moment.milliseconds)
        return record
    }
}

extension ModelField {
    fileprivate func emptyValue(at moment: Timestamp) -> FieldValue {
        switch kind {
        case .text: .text(typeName == "AWSDateTime" ? moment.iso8601 : "")
        case .int: .int(0)
        case .double: .double(0)
        case .bool: .bool(false)
        case .json: .json(isList ? "[]" : "{}")
        }
    }
}
