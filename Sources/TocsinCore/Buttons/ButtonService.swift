/// Presses buttons whose call the server makes.
///
/// Who may read the message now may press, by a full token or by a link of their own. A press is
/// written down before its call begins, so the same button is called once for each person, whatever
/// is repeated and on which node: again only where the call before has failed.
package struct ButtonService: Sendable {
    let environment: ServiceEnvironment
    let rights: PushRights
    let integrations: ModelType
    private let sealer: any Sealer
    private let http: any OutgoingHTTP
    /// Where calls may go; a reload may change it.
    private let addresses: Reloadable<OutgoingAddresses>
    private let rates = MinuteRate(ButtonService.callsPerMinute)
    private let running = ButtonsRunning()

    /// A button acts for so long after its message was made.
    package static let lifetimeSeconds = 86_400.0
    /// Calls of a topic in a minute, on one node.
    package static let callsPerMinute = 30
    /// Shorter than the press may take (`TOCSIN_EXECUTION_SECONDS`), which tells that it was not in
    /// time.
    private static let timeoutSeconds = 4.0
    /// What is read of an answer, of which only the status counts.
    private static let maximumAnswerBytes = 64 << 10
    /// So long after it began, nobody waits any more for what came of a call.
    private static let leaseSeconds = 60.0
    private static let waitSeconds = 10
    private static let gone = LinkedButton.over("There is nothing any more that this link could do.")

    /// - Parameters:
    ///   - integrations: The model whose rows say whether calls are allowed.
    ///   - allowsLoopback: Whether calls may go to this machine.
    package init(
        environment: ServiceEnvironment,
        rights: PushRights,
        integrations: ModelType,
        sealer: any Sealer,
        http: any OutgoingHTTP,
        allowsLoopback: Bool
    ) {
        (self.environment, self.integrations, self.sealer, self.http) = (environment, integrations, sealer, http)
        // Links go on while their person is away, as those of incidents do.
        self.rights = PushRights(
            topics: rights.topics,
            messages: rights.messages,
            claimedGroups: rights.claimedGroups
        )
        addresses = Reloadable(Self.addresses(allowsLoopback))
    }

    /// Says anew whether calls may go to this machine.
    package func allow(loopback: Bool) { addresses.replace(with: Self.addresses(loopback)) }

    private static func addresses(_ allowsLoopback: Bool) -> OutgoingAddresses {
        allowsLoopback ? .publicOrLoopback : .publicOnly
    }

    /// A button that may be pressed.
    package struct Found: Sendable {
        /// What stands on it, and what the server asks for.
        let call: ButtonCall
        /// The name of its message's topic.
        package let topicName: String
        let place: ButtonsRunning.Place
        var topicID: TopicID { place.topic }
        /// Who presses it.
        let caller: Identity
        /// The last press by this person; nil: there was none.
        package let press: ButtonPress?
        /// The words on the button.
        package var title: String { call.title }
    }

    /// What a link meets now; nothing is done.
    package func found(by link: ButtonLink) async throws(ServiceError) -> LinkedButton {
        let service = self
        return try await environment.store.reading(for: .owner(link.userID.text)) { reader throws(StoreError) in
            guard let caller = try service.caller(of: link, reader) else { return Self.gone }
            let found = try service.found(link.buttonID, of: link.messageID, by: caller, reader)
            return found.map { .found($0) } ?? Self.gone
        }
    }

    /// Presses the button of a link; does nothing where that is over.
    package func follow(_ link: ButtonLink) async throws(ServiceError) {
        guard case .found(let found) = try await self.found(by: link) else { return }
        _ = try await press(link.buttonID, of: link.messageID, as: found)
    }

    /// Presses a button of a message that the caller may read; answers what came of the call, or of
    /// the one before where there is nothing to be done again.
    package func press(
        _ button: String,
        of message: MessageID,
        caller: Identity
    ) async throws(ServiceError) -> ButtonPress {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true) else { throw .unauthorized }
        let service = self
        let found = try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try service.found(button, of: message, by: caller, reader)
        }
        guard let found else { throw .unauthorized }
        return try await press(button, of: message, as: found)
    }

    private func press(
        _ button: String,
        of message: MessageID,
        as found: Found
    ) async throws(ServiceError) -> ButtonPress {
        let now = environment.time.now()
        if let press = found.press, stands(press, at: now) { return press }
        guard running.enter(found.place) else { throw Self.busy }
        defer { running.leave(found.place) }
        guard rates.take(found.topicID.text, now: now) else { throw Self.busy }
        let press = ButtonPress(button, of: message, by: found.caller.userID, at: now)
        if let earlier = try await begin(press, caller: found.caller) { return earlier }
        let service = self
        // A task of its own: what began goes on when the one who pressed has hung up.
        let ended = await Task { () async -> Result<ButtonPress, ServiceError> in
            do throws(ServiceError) {
                return .success(try await service.call(found, press))
            } catch {
                return .failure(error)
            }
        }.value
        return try ended.get()
    }

    private static let busy = ServiceError.tooManyTries(
        "Too many buttons of this topic or its owner are pressed. Try again in a moment.",
        seconds: waitSeconds
    )

    /// Whether a press leaves nothing to be done: its call has succeeded, or is under way.
    private func stands(_ press: ButtonPress, at now: Timestamp) -> Bool {
        guard let outcome = press.outcome else { return press.at.adding(seconds: Self.leaseSeconds) > now }
        return outcome.isDone
    }

    /// Writes down that a call begins; answers the press that stands in its way.
    private func begin(_ press: ButtonPress, caller: Identity) async throws(ServiceError) -> ButtonPress? {
        let service = self
        return try await environment.store.writing { writer throws(StoreError) in
            // Rights may have ended since the look-up.
            guard
                try service.found(press.buttonID, of: press.messageID, by: caller, writer.unlocked) != nil
            else { return .failure(.unauthorized) }
            func stored() throws(StoreError) -> ButtonPress? {
                try writer.buttonPress(press.buttonID, of: press.messageID, by: press.userID)
            }
            if try stored() == nil, try writer.insert(press) { return .success(nil) }
            guard let stored = try stored() else { return .failure(.unavailable("a press was removed meanwhile")) }
            if service.stands(stored, at: press.at) { return .success(stored) }
            try writer.save(press)
            return .success(nil)
        }
    }

    /// Makes the call, and writes what came of it with its row of the audit.
    private func call(_ found: Found, _ begun: ButtonPress) async throws(ServiceError) -> ButtonPress {
        var press = begun
        switch await http.send(request(of: found.call.call)) {
        case .response(let status, _, _): press.outcome = .answered(status)
        case .failed(let reason): press.outcome = .failed(reason)
        }
        let (ended, service) = (press, self)
        try await environment.store.writing { writer throws(StoreError) in
            try writer.save(ended)
            try writer.record(
                service.environment.audit(
                    action: "button.press",
                    by: found.caller,
                    on: .topic(found.topicID),
                    detail: ended.detail
                )
            )
            return .success(())
        }
        return press
    }

    private func request(of call: SenderEvent.Call) -> OutgoingRequest {
        var headers = call.headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        // libcurl would call a body a form.
        if !headers.contains(where: { $0.name.lowercased() == "content-type" }) { headers.append(("content-type", "")) }
        var request = OutgoingRequest(
            method: call.method,
            url: call.url,
            headers: headers,
            body: Array(call.body.utf8),
            timeoutSeconds: Self.timeoutSeconds,
            maximumBodyBytes: Self.maximumAnswerBytes
        )
        request.addresses = addresses.value
        return request
    }
}

// What is there.
extension ButtonService {
    /// A button of a message that somebody may read; nil: there is none, or it is over.
    private func found(
        _ button: String,
        of message: MessageID,
        by caller: Identity,
        _ reader: any StoreReader
    ) throws(StoreError) -> Found? {
        guard let stored = try reader.records(rights.messages, ids: [message.text], where: .always).first,
            !stored.isDeleted,
            case .allow(let permitted) = AccessPolicy.decision(.get, on: rights.messages, for: caller),
            permitted.matches(stored, try reader.roles(askedBy: permitted, of: stored)),
            isYoung(stored), let call = call(of: button, in: stored),
            let integration = try reader.records(integrations, ids: [call.integrationID], where: .always).first,
            Self.allowsCalls(integration),
            let topic = try reader.records(rights.topics, ids: [stored["topicId"].text ?? ""], where: .always).first,
            !topic.isDeleted
        else { return nil }
        return Found(
            call: call,
            topicName: topic["name"].text ?? topic.id,
            place: ButtonsRunning.Place(topic: TopicID(topic.id), owner: topic.owner ?? ""),
            caller: caller,
            press: try reader.buttonPress(button, of: message, by: caller.userID)
        )
    }

    /// Whether the message was made so lately that its buttons still act.
    ///
    /// Its last change does not count: presses are kept for as long as this.
    func isYoung(_ message: Record) -> Bool {
        let made = Timestamp(milliseconds: message[ModelType.makingTime].int ?? 0)
        return made.adding(seconds: Self.lifetimeSeconds) > environment.time.now()
    }

    /// What a button of a message asks for; nil where it has no call.
    func call(of button: String, in message: Record) -> ButtonCall? {
        guard !button.utf8.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) else { return nil }
        let push: String? =
            switch message["push"] {
            case .json(let text), .text(let text): text
            default: nil
            }
        guard let calls = push.flatMap({ JSONObjectText.member(ButtonCall.member, of: $0) }),
            let sealed = JSONObjectText.member(button, of: calls)
        else { return nil }
        return ButtonCall(sealed: String(sealed.dropFirst().dropLast()), sealer)
    }

    /// Whether the integration has the server call.
    static func allowsCalls(_ integration: Record) -> Bool {
        !integration.isDeleted && integration["allowHttpActions"] == .bool(true)
            && integration["enabled"] != .bool(false)
    }

    /// By whom a link presses, as they are now; nil: that is nobody.
    private func caller(of link: ButtonLink, _ reader: any StoreReader) throws(StoreError) -> Identity? {
        let standing = try reader.standings(of: [link.userID], tokensAt: nil)[link.userID]
        let receiver = rights.receiver(link.userID, standing, now: environment.time.now())
        guard case .person(let caller) = receiver else { return nil }
        return caller
    }
}

/// What a link to a button meets.
package enum LinkedButton: Sendable {
    /// The link acts no more, and why.
    case over(String)
    /// A button that may be pressed, or was.
    case found(ButtonService.Found)
}

extension ButtonPress {
    /// What the audit says of it: no title, no address.
    fileprivate var detail: AuditDetail {
        var detail: AuditDetail = ["message": .text(messageID.text), "button": .text(buttonID)]
        switch outcome {
        case .answered(let status)?: detail["status"] = .int(Int64(status))
        case .failed(let words)?: detail["problem"] = .text(words)
        case nil: break
        }
        return detail
    }
}
