/// What an action link meets.
package enum LinkedIncident: Sendable {
    /// The link acts no more, and why.
    case over(String)
    /// The incident as it is, for whom the link was made.
    case found(Found)

    /// An incident that a link is about.
    package struct Found: Sendable {
        /// The incident.
        package var incident: Record
        /// `alerts#42`.
        package var name: String
        /// By whom the link acts.
        let caller: Identity
        /// Where it stands.
        package var state: IncidentState { incident["state"].text.flatMap(IncidentState.init) ?? .open }
    }
}

extension IncidentBook {
    private static let snoozeSeconds = 3600.0
    private static let gone = LinkedIncident.over("There is nothing any more that this link could do.")

    /// What a link meets now; nothing is done.
    package func found(by link: IncidentLink) async throws(ServiceError) -> LinkedIncident {
        let now = environment.time.now()
        guard link.endsAt > now else { return .over("This link has ended: links last 24 hours.") }
        guard let model else { return Self.gone }
        let (book, origin) = (self, ReadOrigin.owner(link.bearer.text))
        return try await environment.store.reading(for: origin) { reader throws(StoreError) in
            guard let incident = try reader.records(model, ids: [link.incidentID], where: .always).first,
                !incident.isDeleted, let facts = try reader.incidentFacts(incident.id),
                let topic = try reader.records(book.topics, ids: [incident["topicId"].text ?? ""], where: .always)
                    .first, !topic.isDeleted,
                let caller = try book.caller(of: link, topic, reader),
                case .allow(let permitted) = AccessPolicy.decision(.get, on: model, for: caller),
                permitted.matches(incident, try reader.roles(askedBy: permitted, of: incident))
            else { return Self.gone }
            guard link.number >= IncidentMemory(facts.memory).round else {
                return .over("The incident was opened again since; a newer notification has a newer link.")
            }
            let name = "\(topic["name"].text ?? topic.id)#\(incident["number"].int ?? 0)"
            return .found(LinkedIncident.Found(incident: incident, name: name, caller: caller))
        }
    }

    /// Does what a link is for; what does not fit any more changes nothing.
    package func follow(_ link: IncidentLink) async throws(ServiceError) {
        guard case .found(let found) = try await self.found(by: link) else { return }
        var answering = IncidentAnswering(via: .link)
        answering.number = link.number
        if case .webhook(let name) = link.bearer { answering.name = name }
        let answer: IncidentAnswer =
            switch link.action {
            case .acknowledge: .acknowledge
            case .snooze: .snooze(until: environment.time.now().adding(seconds: Self.snoozeSeconds))
            case .resolve: .resolve
            }
        do throws(ServiceError) {
            _ = try await self.answer(answer, to: link.incidentID, answering, caller: found.caller)
        } catch {
            // The page says what is the case.
            guard case .conflicting = error else { throw error }
        }
    }

    /// By whom a link acts, as they are now; nil where that is nobody.
    private func caller(
        of link: IncidentLink,
        _ topic: Record,
        _ reader: any StoreReader
    ) throws(StoreError) -> Identity? {
        let id: UserID
        switch link.bearer {
        case .user(let user): id = user
        case .webhook:
            let owner = topic.owner ?? ""
            let user = Identity(ownerText: owner).userID
            id = user.text.isEmpty ? UserID(owner) : user
        }
        let standing = try reader.standings(of: [id], tokensAt: nil)[id]
        guard case .person(let caller) = rights.receiver(id, standing, now: environment.time.now()) else { return nil }
        return caller
    }
}

extension IncidentLink.Bearer {
    /// Whose turn reads for it take.
    fileprivate var text: String {
        switch self {
        case .user(let id): id.text
        case .webhook(let name): name
        }
    }
}
