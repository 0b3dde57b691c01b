import Encodings
import GraphQLTransport
import Metrics
import NIOCore
import TocsinAPI
import TocsinAuth
import TocsinCore
import TocsinHTTP
import TocsinReceivers

/// Takes what senders post: finds the integration by the key, has the request read, and answers in
/// the sender's shape once all that it caused is durable.
struct ReceiverDesk: Sendable {
    let integrations: IntegrationService
    let intake: any EventIntake
    let authenticator: TokenAuthenticator
    /// The receiver of an integration, by its kind or its template.
    let receiver: @Sendable (IntegrationRecord) -> (any Receiver)?
    let report: @Sendable (String) -> String
    let identifiers: any IdentifierSource
    let time: any TimeSource
    /// The longest body, unpacked.
    let maximumBodyBytes: Int
    /// The kinds whose posts are taken.
    let shapes: Set<Integration.Kind>
    private let guesses: KeyGuesses
    private let rates: IntegrationRates
    private let turns = PostTurns()
    private let subscriptions: SNSConfirmations

    /// Bodies of at most so many bytes are read before it is known whose they are.
    private static let freeBytes = 64 * 1024
    private static let awaySeconds = 5
    /// Where the owner may store nothing more.
    private static let fullSeconds = 30

    init(
        integrations: IntegrationService,
        intake: any EventIntake,
        authenticator: TokenAuthenticator,
        receiver: @escaping @Sendable (IntegrationRecord) -> (any Receiver)?,
        report: @escaping @Sendable (String) -> String,
        subscriptions: SNSConfirmations,
        identifiers: any IdentifierSource,
        time: any TimeSource,
        maximumBodyBytes: Int,
        shapes: Set<Integration.Kind>,
        limited: CounterSet<AuthMetrics.LimitedKind>?
    ) {
        self.subscriptions = subscriptions
        guesses = KeyGuesses(refused: limited?[.network])
        rates = IntegrationRates(refused: limited?[.token])
        (self.integrations, self.intake, self.authenticator) = (integrations, intake, authenticator)
        (self.receiver, self.report, self.identifiers) = (receiver, report, identifiers)
        (self.time, self.maximumBodyBytes, self.shapes) = (time, maximumBodyBytes, shapes)
    }

    /// An integration that a request may post to.
    private struct Admitted {
        let found: IntegrationService.Found
        let record: IntegrationRecord
        let receiver: any Receiver
        let context: ReceiverContext
        /// The key as it came, to be kept out of what is kept.
        let key: String
    }

    /// What a request is answered, and the first message that came of it, with its topic where a
    /// route chose it.
    private struct Given {
        var answer: ReceiverAnswer
        var messageID: String?
        var topicID: TopicID?
    }

    /// Why nobody was found, or nothing is looked at.
    private enum Refusal: Error {
        case fault(ReceiverFault)
        case answer(ReceiverAnswer)
    }
}

// Who may send a body.
extension ReceiverDesk {
    /// Judges by the head: announced lengths, and for long bodies the key, where it is in the head.
    func admission(of incoming: IncomingRequest) async -> BodyAdmission {
        let request = receiverRequest(incoming, body: [])
        let place = ReceiverPlace(request)
        let shape = Receivers.of(place.kind) ?? EventReceiver()
        let length = incoming.header("content-length").flatMap { Int($0) }
        if let length, length > longest(at: place) {
            return .refused(OutgoingResponse(shape.answer(.tooLarge(), to: request)))
        }
        guard length ?? .max > Self.freeBytes, !Self.isKnownByBody(place) else { return .admitted(owner: nil) }
        do throws(Refusal) {
            let admitted = try await admitted(request, at: place, from: incoming)
            return .admitted(owner: admitted.record.integration.owner)
        } catch {
            return .refused(OutgoingResponse(answer(error, shape, request)))
        }
    }
}

// From request to answer.
extension ReceiverDesk {
    func respond(to incoming: IncomingRequest) async -> OutgoingResponse {
        let isLong = incoming.body.readableBytes > Self.freeBytes || incoming.header("content-encoding") != nil
        guard isLong else { return await response(to: incoming) }
        // What takes long to read is read beside the event loop, which others wait for.
        return await withTaskExecutorPreference(globalConcurrentExecutor) { await response(to: incoming) }
    }

    private func response(to incoming: IncomingRequest) async -> OutgoingResponse {
        let bytes = Array(incoming.body.readableBytesView)
        let head = receiverRequest(incoming, body: [])
        let place = ReceiverPlace(head)
        let shape = Receivers.of(place.kind) ?? EventReceiver()
        if place == .none, let given = GotifyReceiver.openAnswer(to: head) { return OutgoingResponse(given) }
        var request = head
        do throws(Refusal) {
            request = receiverRequest(incoming, body: try unpacked(bytes, incoming, longest: longest(at: place)))
            let admitted = try await admitted(request, at: place, from: incoming)
            let origin = RequestOrigin(incoming.source)
            let given = await RequestOrigin.$current.withValue(origin) { await answerInTurn(request, admitted) }
            var response = OutgoingResponse(given.answer)
            response.isLetIn = true
            response.subjects = ["topic": (given.topicID ?? admitted.record.integration.topicID).text]
            response.subjects["message_id"] = given.messageID
            response.owner = admitted.record.integration.owner
            return response
        } catch {
            return OutgoingResponse(answer(error, shape, request))
        }
    }

    private func answer(_ refusal: Refusal, _ shape: any Receiver, _ request: ReceiverRequest) -> ReceiverAnswer {
        switch refusal {
        case .fault(let fault): shape.answer(fault, to: request)
        case .answer(let answer): answer
        }
    }

    /// Whether the body must be read to know whose it is.
    ///
    /// PagerDuty's keys stand in it, and the topic of ntfy's JSON.
    private static func isKnownByBody(_ place: ReceiverPlace) -> Bool {
        place == .kind(.pagerDuty) || place == .ntfy(nil)
    }

    /// The longest body at a path, unpacked.
    private func longest(at place: ReceiverPlace) -> Int {
        Self.isKnownByBody(place) ? min(PagerDutyReceiver.maximumBytes, maximumBodyBytes) : maximumBodyBytes
    }

    /// The body as it was before it was packed.
    private func unpacked(
        _ bytes: [UInt8],
        _ incoming: IncomingRequest,
        longest: Int
    ) throws(Refusal) -> [UInt8] {
        switch incoming.header("content-encoding")?.lowercased() ?? "identity" {
        case _ where bytes.isEmpty: return bytes
        case "identity":
            guard bytes.count <= longest else { throw .fault(.tooLarge()) }
            return bytes
        case "gzip", "x-gzip":
            do throws(Gzip.Fault) {
                return try Gzip.unpacked(bytes, maximumBytes: longest)
            } catch {
                switch error {
                case .isBroken: throw .fault(.badInput(["The body is no gzip."]))
                case .isTooLong: throw .fault(.tooLarge())
                }
            }
        default: throw .fault(.unsupportedType)
        }
    }

    private func receiverRequest(_ incoming: IncomingRequest, body: [UInt8]) -> ReceiverRequest {
        let headers = incoming.headerFields.map { ReceiverRequest.Item($0.name, $0.value) }
        return ReceiverRequest(incoming, headers: headers, body: body, receivedAt: time.now())
    }

    /// Long posts of one owner come one after another, so that others are served between them.
    private func answerInTurn(_ request: ReceiverRequest, _ admitted: Admitted) async -> Given {
        guard request.body.count > Self.freeBytes else { return await answer(to: request, admitted) }
        let given = await turns.take(of: admitted.record.integration.owner) { await answer(to: request, admitted) }
        return given ?? refused(.unavailable(retryAfterSeconds: Self.awaySeconds), request, admitted)
    }

    /// Reads the request, has its events taken, and answers; counts what came.
    private func answer(to request: ReceiverRequest, _ admitted: Admitted) async -> Given {
        let (receiver, integration) = (admitted.receiver, admitted.record.integration)
        guard receiver.methods.contains(request.method) else { return refused(.methodNotAllowed, request, admitted) }
        switch reading(of: request, admitted) {
        case .answered(let answer): return Given(answer: answer)
        case .refused(let fault): return refused(fault, request, admitted)
        case .events(var events, var notes):
            let seconds = rates.take(
                // A group of many alerts is more work than one event.
                events.reduce(0) { $0 + 1 + $1.alerts.count / 100 },
                of: integration.id,
                perMinute: admitted.record.ratePerMinute,
                now: time.now()
            )
            if let seconds { return refused(.rateLimited(retryAfterSeconds: seconds), request, admitted) }
            let subscription = admitted.record.receiver == SNSSubscription.receiver ? SNSSubscription(request) : nil
            if let subscription {
                guard let problem = await subscriptions.confirm(subscription, listed: admitted.record.snsTopics) else {
                    return confirmed(subscription, request, admitted)
                }
                notes.insert(problem, at: 0)
                // Nobody is to open what does not look like Amazon's.
                if subscription.confirmation == nil { for index in events.indices { events[index].url = nil } }
            }
            do throws(ServiceError) {
                let outcomes = try await intake.take(events, from: integration)
                let accepted = AcceptedEvents(
                    events: events,
                    outcomes: outcomes,
                    integration: integration,
                    topicName: admitted.found.topicName
                )
                var answer = receiver.answer(accepted, to: request)
                if subscription != nil { answer.status = 200 }
                note(accepted, notes, answer, request, admitted)
                let told = outcomes.first { $0.messageID != nil }
                return Given(answer: answer, messageID: told?.messageID, topicID: told?.topicID)
            } catch {
                return refused(fault(of: error), request, admitted)
            }
        }
    }

    /// The events of a request; one in ntfy's shape may name another receiver.
    private func reading(of request: ReceiverRequest, _ admitted: Admitted) -> Reading {
        guard let ntfy = admitted.receiver as? NtfyReceiver else {
            return admitted.receiver.read(request, in: admitted.context)
        }
        return ntfy.read(request, in: admitted.context) { name in
            var record = admitted.record
            (record.integration.kind, record.receiver) = (.template, name)
            return receiver(record)
        }
    }

    /// What a refusal of the service is to a sender.
    private func fault(of error: ServiceError) -> ReceiverFault {
        switch error {
        case .badInput(let text), .badRequest(let text, _), .conflicting(let text): return .badInput([text])
        case .limit: return .unavailable(retryAfterSeconds: Self.fullSeconds)
        case .unauthorized: return .unauthenticated
        case .tooManyTries(_, let seconds): return .rateLimited(retryAfterSeconds: seconds)
        case .unavailable, .uncertain: return .unavailable(retryAfterSeconds: Self.awaySeconds)
        default:
            _ = report("\(error)")
            return .unavailable(retryAfterSeconds: Self.awaySeconds)
        }
    }
}

// Whose key it is.
extension ReceiverDesk {
    /// The integration of the key or token that came with a request.
    ///
    /// Keys that are unknown, over or of another integration are refused alike.
    private func admitted(
        _ request: ReceiverRequest,
        at place: ReceiverPlace,
        from incoming: IncomingRequest
    ) async throws(Refusal) -> Admitted {
        guard place != .none else { throw .fault(.notFound) }
        let (address, now) = (incoming.clientAddress, time.now())
        switch SenderKeys.find(in: request, kind: place.kind) {
        case .none:
            // To find none in a body is work.
            throw place == .kind(.pagerDuty) ? refusal(of: address, now) : .fault(.unauthenticated)
        case .differing: throw refusal(of: address, now)
        case .key(let key):
            let found = try await found(key, request, place, incoming)
            guard let found, let admitted = admitted(found, key, at: place, request, from: address) else {
                throw refusal(of: address, now)
            }
            return admitted
        }
    }

    /// How a wrong key is refused.
    ///
    /// It was looked up before: a good one is taken, whatever others of its address have guessed.
    private func refusal(of address: IPAddress?, _ now: Timestamp) -> Refusal {
        guard let seconds = guesses.note(address, now: now) else { return .fault(.unauthenticated) }
        return .fault(.lockedOut(retryAfterSeconds: seconds))
    }

    private func found(
        _ key: SenderKeys.Key,
        _ request: ReceiverRequest,
        _ place: ReceiverPlace,
        _ incoming: IncomingRequest
    ) async throws(Refusal) -> IntegrationService.Found? {
        do throws(ServiceError) {
            // A token stands in the header alone, and never in an address.
            guard key.isAuthorization, request.header("Authorization") != nil, !IntegrationKey.hasForm(key.text)
            else { return try await integrations.found(byKey: key.text) }
            let (topic, kind): (String, Integration.Kind)
            switch place {
            case .topic(let named, let of): (topic, kind) = (named, of)
            case .ntfy(let named): (topic, kind) = (named ?? NtfyReceiver.topic(of: request) ?? "", .ntfy)
            case .anyKind, .kind, .none: return nil
            }
            let address = incoming.credentials.remoteAddress
            switch await authenticator.authenticate(token: key.text, from: address) {
            case .identity(let caller): return try await integrations.own(of: caller, in: topic, kind: kind)
            case .refused: return nil
            case .unavailable(let reason): throw .unavailable(reason)
            }
        } catch {
            switch fault(of: error) {
            case .unavailable(let seconds): throw .fault(.unavailable(retryAfterSeconds: seconds))
            default: return nil
            }
        }
    }

    private func admitted(
        _ found: IntegrationService.Found,
        _ key: SenderKeys.Key,
        at place: ReceiverPlace,
        _ request: ReceiverRequest,
        from address: IPAddress?
    ) -> Admitted? {
        guard let record = IntegrationRecord(found.record), let receiver = receiver(record) else { return nil }
        let integration = record.integration
        guard isMeant(integration, found.topicName, at: place, request) else { return nil }
        guard shapes.contains(integration.kind) else {
            noteRefusal(of: integration.id, "A request came in a shape that TOCSIN_RECEIVER_SHAPES does not have.")
            return nil
        }
        guard record.isEnabled else {
            noteRefusal(of: integration.id, "A request came while the integration is not enabled.")
            return nil
        }
        guard
            record.networks.isEmpty
                || address.map({ address in record.networks.contains { $0.contains(address) } }) == true
        else {
            noteRefusal(of: integration.id, "A request came from an address that allowedAddresses does not have.")
            return nil
        }
        var context = ReceiverContext(
            integration: integration,
            topicName: found.topicName,
            sha256: { Digest.sha256($0) },
            hmacSHA256: { Digest.hmacSHA256($1, key: $0) }
        )
        context.ratePerMinute = record.ratePerMinute
        context.signatureSecret = found.signatureSecret
        return Admitted(found: found, record: record, receiver: receiver, context: context, key: key.text)
    }

    /// Whether an integration is of the kind, and the topic, that the path names.
    private func isMeant(
        _ integration: Integration,
        _ topicName: String,
        at place: ReceiverPlace,
        _ request: ReceiverRequest
    ) -> Bool {
        func isTopic(_ text: String) -> Bool { text == topicName || text == integration.topicID.text }
        switch place {
        case .anyKind: return true
        case .kind(let kind): return integration.kind == kind
        case .topic(let topic, let kind): return integration.kind == kind && isTopic(topic)
        case .ntfy(let topic):
            // JSON that names no topic is refused to whoever has a key, with what is wrong with it.
            return integration.kind == .ntfy && (topic ?? NtfyReceiver.topic(of: request)).map(isTopic) ?? true
        case .none: return false
        }
    }
}

// What the owner sees of it.
extension ReceiverDesk {
    private func refused(
        _ fault: ReceiverFault,
        _ request: ReceiverRequest,
        _ admitted: Admitted
    ) -> Given {
        let answer = admitted.receiver.answer(fault, to: request)
        var counts = IntegrationCounts(integrationID: admitted.record.integration.id)
        counts.refused = 1
        counts.trouble = "\(answer.status): \(Self.words(of: fault))"
        integrations.notes.note(counts, received(request, answer, "refused: \(Self.words(of: fault))", admitted))
        return Given(answer: answer)
    }

    /// The answer to a subscription that the server has confirmed: it makes no message.
    private func confirmed(
        _ subscription: SNSSubscription,
        _ request: ReceiverRequest,
        _ admitted: Admitted
    ) -> Given {
        let answer = ReceiverAnswer(200, text: "confirmed\n")
        var counts = IntegrationCounts(integrationID: admitted.record.integration.id)
        (counts.events, counts.lastEventAt) = (1, request.receivedAt)
        let words = "confirmed the subscription to \(subscription.topicARN)"
        integrations.notes.note(counts, received(request, answer, words, admitted))
        return Given(answer: answer)
    }

    private func noteRefusal(of integration: String, _ trouble: String) {
        var counts = IntegrationCounts(integrationID: integration)
        (counts.refused, counts.trouble) = (1, trouble)
        integrations.notes.note(counts, nil)
    }

    private func note(
        _ accepted: AcceptedEvents,
        _ notes: [String],
        _ answer: ReceiverAnswer,
        _ request: ReceiverRequest,
        _ admitted: Admitted
    ) {
        var counts = IntegrationCounts(integrationID: admitted.record.integration.id)
        (counts.events, counts.lastEventAt) = (accepted.events.count, request.receivedAt)
        var notes = notes
        for case let note? in accepted.outcomes.map(\.note) where !notes.contains(note) { notes.append(note) }
        counts.trouble = notes.first
        counts.unmatchedResolves = zip(accepted.events, accepted.outcomes).count { event, outcome in
            [.resolve, .acknowledge].contains(event.action) && outcome.incidentID == nil
        }
        var words: [String] = []
        for outcome in accepted.outcomes {
            let word = outcome.change?.rawValue ?? (outcome.messageID == nil ? "NONE" : "MESSAGE")
            if !words.contains(word) { words.append(word) }
        }
        var seen = received(request, answer, (words + notes).joined(separator: "; "), admitted)
        seen.incidentID = accepted.outcomes.lazy.compactMap(\.incidentID).first
        seen.messageID = accepted.outcomes.lazy.compactMap(\.messageID).first
        integrations.notes.note(counts, seen)
    }

    private func received(
        _ request: ReceiverRequest,
        _ answer: ReceiverAnswer,
        _ outcome: String,
        _ admitted: Admitted
    ) -> ReceivedRequest {
        var received = ReceivedRequest(
            id: identifiers.makeID(),
            integrationID: admitted.record.integration.id,
            at: request.receivedAt,
            status: answer.status,
            outcome: String(outcome.prefix(1000))
        )
        let body = admitted.receiver is NtfyReceiver ? NtfyReceiver.shownBody(of: request) : request.body
        let kept = body.prefix(ReceivedRequest.maximumBodyBytes)
        // No key is kept, and no character that a database does not take.
        received.body = String(decoding: kept, as: UTF8.self).replacing(admitted.key, with: "***")
            .replacing("\0", with: "\u{FFFD}")
        return received
    }

    private static func words(of fault: ReceiverFault) -> String {
        switch fault {
        case .unauthenticated: "the signature is wrong, or the owner may not publish to the topic any more"
        case .badInput(let sentences, _): sentences.joined(separator: " ")
        case .unsupportedType: "the body's type is none that the receiver knows"
        case .tooLarge: "the body is too large"
        case .rateLimited: "the integration's rate is used up"
        case .lockedOut: "the key is wrong"
        case .unavailable: "nothing could be stored"
        case .methodNotAllowed: "another method is meant"
        case .notFound: "nothing has this path"
        }
    }
}
