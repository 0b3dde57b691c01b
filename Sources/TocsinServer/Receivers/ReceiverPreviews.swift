import TocsinAuth
import TocsinCore
import TocsinReceivers

/// Reads requests by the receivers that are loaded now, as a sender's would be read.
struct ReceiverPreviews: ReceiverPreviewing {
    let catalog: Reloadable<ReceiverCatalog>
    let time: any TimeSource

    private static let name = "preview"

    func preview(_ previewed: PreviewedRequest) -> ReceiverPreview {
        let receiver: any Receiver
        do throws(TemplateProblem) {
            receiver = try self.receiver(of: previewed)
        } catch {
            return Self.refused([error.text + "."], by: EventReceiver(), Self.request(previewed, at: time.now()))
        }
        let request = Self.request(previewed, at: time.now())
        let context = Self.context(previewed)
        let byName = (receiver as? NtfyReceiver)?.read(request, in: context) { name in
            try? catalog.value.receiver(named: name, template: nil)
        }
        switch byName ?? receiver.read(request, in: context) {
        case .answered(let answer): return Self.preview(answer)
        case .refused(.badInput(let words, let code)):
            return Self.refused(words, by: receiver, request, code: code)
        case .refused(let fault):
            let answer = receiver.answer(fault, to: request)
            var preview = Self.preview(answer)
            preview.problems = ["The request is refused with status \(answer.status)."]
            return preview
        case .events(let events, let notes):
            let accepted = AcceptedEvents(
                events: events,
                outcomes: events.map { Self.outcome(of: $0, context.integration) },
                integration: context.integration,
                topicName: context.topicName
            )
            var preview = Self.preview(receiver.answer(accepted, to: request))
            (preview.events, preview.problems) = (events, notes.map { $0.hasSuffix(".") ? $0 : $0 + "." })
            guard previewed.integration != nil else { return preview }
            return Self.routed(preview, by: context.integration)
        }
    }

    private func receiver(of previewed: PreviewedRequest) throws(TemplateProblem) -> any Receiver {
        guard previewed.kind == .template else {
            guard let receiver = Receivers.of(previewed.kind) else {
                throw TemplateProblem("the kind HEARTBEAT takes pings by their path, and no body becomes an event")
            }
            return receiver
        }
        // Templates that are only tried out do not push out those that are in use.
        return try catalog.value.receiver(named: previewed.receiver, template: previewed.template, isKept: false)
    }

    private static func request(_ previewed: PreviewedRequest, at now: Timestamp) -> ReceiverRequest {
        var headers = previewed.headers.sorted { $0.key < $1.key }.map { ReceiverRequest.Item($0.key, $0.value) }
        if !headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            let type = previewed.kind == .mail ? "message/rfc822" : "application/json"
            headers.append(ReceiverRequest.Item("Content-Type", type))
        }
        let query = previewed.query.sorted { $0.key < $1.key }
            .map { encoded($0.key) + "=" + encoded($0.value) }.joined(separator: "&")
        return ReceiverRequest(
            method: "POST",
            target: "/in/\(name)" + (query.isEmpty ? "" : "?" + query),
            headers: headers,
            body: Array(previewed.body.utf8),
            receivedAt: now
        )
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let character = Character(Unicode.Scalar(byte))
            return character.isASCII && (character.isLetter || character.isNumber)
                ? String(character) : "%" + HexText.text(of: [byte])
        }.joined()
    }

    /// The events with the topics and priorities that routes give them.
    private static func routed(_ preview: ReceiverPreview, by integration: Integration) -> ReceiverPreview {
        var routed = preview
        routed.events = preview.events.flatMap { $0.singles(of: integration) }
        for (index, event) in routed.events.enumerated() {
            let route = integration.route(of: event)
            routed.events[index].priority = route?.priority ?? event.priority
            routed.topics.append(route?.topicID ?? integration.topicID)
        }
        return routed
    }

    private static func context(_ previewed: PreviewedRequest) -> ReceiverContext {
        let usual = Integration(id: name, owner: name, name: name, kind: previewed.kind, topicID: TopicID(name))
        var integration = previewed.integration.flatMap { IntegrationRecord($0)?.integration } ?? usual
        integration.kind = previewed.kind
        return ReceiverContext(
            integration: integration,
            topicName: name,
            sha256: { Digest.sha256($0) },
            hmacSHA256: { Digest.hmacSHA256($1, key: $0) }
        )
    }

    /// What would become of an event where nothing is open yet.
    private static func outcome(of event: SenderEvent, _ integration: Integration) -> EventOutcome {
        var outcome = EventOutcome(key: event.key ?? name)
        switch event.action {
        case .ping, .ignore: break
        case .log: (outcome.messageID, outcome.messageNumber) = (name, 1)
        case .trigger where integration.grouping == .none && !event.isOfIncident:
            (outcome.messageID, outcome.messageNumber) = (name, 1)
        case .trigger:
            (outcome.incidentID, outcome.incidentNumber) = (name, 1)
            (outcome.state, outcome.change) = (.open, .opened)
        case .acknowledge, .resolve: break
        }
        return outcome
    }

    private static func preview(_ answer: ReceiverAnswer) -> ReceiverPreview {
        ReceiverPreview(status: answer.status, answer: String(decoding: answer.body, as: UTF8.self))
    }

    private static func refused(
        _ words: [String],
        by receiver: any Receiver,
        _ request: ReceiverRequest,
        code: Int? = nil
    ) -> ReceiverPreview {
        var preview = preview(receiver.answer(.badInput(words, code: code), to: request))
        preview.problems = words
        return preview
    }
}
