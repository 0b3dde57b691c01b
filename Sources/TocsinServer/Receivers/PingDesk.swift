import Encodings
import GraphQLTransport
import Metrics
import NIOCore
import TocsinAPI
import TocsinCore
import TocsinHTTP
import TocsinReceivers

/// Takes pings of monitors: finds whose key it is, and answers as healthchecks.io or Uptime Kuma do
/// once the ping is durable.
struct PingDesk: Sendable {
    let monitors: MonitorService
    let report: @Sendable (String) -> String
    let time: any TimeSource
    let maximumBodyBytes: Int
    private let guesses: KeyGuesses
    private let rates: IntegrationRates

    private static let awaySeconds = 5
    /// Pings of one key in a minute.
    private static let perMinute = 600

    init(
        monitors: MonitorService,
        report: @escaping @Sendable (String) -> String,
        time: any TimeSource,
        maximumBodyBytes: Int,
        limited: CounterSet<AuthMetrics.LimitedKind>?
    ) {
        guesses = KeyGuesses(refused: limited?[.network])
        rates = IntegrationRates(refused: limited?[.token])
        (self.monitors, self.report) = (monitors, report)
        (self.time, self.maximumBodyBytes) = (time, maximumBodyBytes)
    }

    /// Why nothing of a request was taken.
    private struct Refusal: Error {
        let fault: ReceiverFault

        init(_ fault: ReceiverFault) { self.fault = fault }
    }

    /// Judges by the head: nobody sends a long body without a key.
    func admission(of incoming: IncomingRequest) async -> BodyAdmission {
        let request = ReceiverRequest(incoming, headers: [], body: [], receivedAt: time.now())
        let length = incoming.header("content-length").flatMap { Int($0) }
        if let length, length > maximumBodyBytes { return .refused(Self.response(.tooLarge(), to: request)) }
        guard length ?? .max > MonitorPing.maximumTextBytes else { return .admitted(owner: nil) }
        guard case .ping(let ping) = PingRequest.read(request) else { return .admitted(owner: nil) }
        do throws(Refusal) {
            return .admitted(owner: try await bearer(of: ping.key, from: incoming).record.owner)
        } catch {
            return .refused(Self.response(error.fault, to: request))
        }
    }

    func respond(to incoming: IncomingRequest) async -> OutgoingResponse {
        let kept = Array(incoming.body.readableBytesView.prefix(MonitorPing.maximumTextBytes))
        let request = ReceiverRequest(incoming, headers: [], body: kept, receivedAt: time.now())
        switch PingRequest.read(request) {
        case .refused(let fault): return Self.response(fault, to: request)
        case .ping(let ping):
            do throws(Refusal) {
                let bearer = try await bearer(of: ping.key, from: incoming)
                let origin = RequestOrigin(incoming.source)
                let taken = await RequestOrigin.$current.withValue(origin) { await take(ping, from: bearer) }
                var response = try Self.response(taken, to: ping)
                response.subjects["topic"] = bearer.record["topicId"].text
                return response
            } catch {
                return Self.response(error.fault, to: request)
            }
        }
    }

    private func take(
        _ ping: PingRequest,
        from bearer: MonitorService.Bearer
    ) async -> Result<MonitorService.Taken, Refusal> {
        let seconds = rates.take(1, of: bearer.record.id, perMinute: Self.perMinute, now: time.now())
        if let seconds { return .failure(Refusal(.rateLimited(retryAfterSeconds: seconds))) }
        do throws(ServiceError) {
            let taken = try await monitors.take(
                MonitorPing(ping),
                from: bearer,
                slug: ping.slug,
                creates: ping.creates
            )
            return .success(taken)
        } catch {
            return .failure(Refusal(fault(of: error)))
        }
    }

    private static func response(
        _ taken: Result<MonitorService.Taken, Refusal>,
        to ping: PingRequest
    ) throws(Refusal) -> OutgoingResponse {
        let owner: String?
        let outcome: PingRequest.Outcome
        switch try taken.get() {
        case .stored(let of): (outcome, owner) = (.taken, of)
        case .made(let of): (outcome, owner) = (.created, of)
        case .unknown: (outcome, owner) = (.unknown, nil)
        }
        var answer = OutgoingResponse(ping.answer(outcome))
        (answer.isLetIn, answer.owner) = (owner != nil, owner)
        return answer
    }

    /// Whose key it is; keys that are unknown, over or not of pings are refused alike.
    private func bearer(
        of key: String,
        from incoming: IncomingRequest
    ) async throws(Refusal) -> MonitorService.Bearer {
        let (address, now) = (incoming.clientAddress, time.now())
        let found: MonitorService.Bearer?
        do throws(ServiceError) {
            found = try await monitors.bearer(ofKey: key)
        } catch {
            throw Refusal(fault(of: error))
        }
        guard let found, Self.mayPing(found, from: address) else {
            // The key first: others of the same address may have guessed.
            guard let seconds = guesses.note(address, now: now) else { throw Refusal(.unauthenticated) }
            throw Refusal(.lockedOut(retryAfterSeconds: seconds))
        }
        return found
    }

    /// Whether an integration is in use, and for this address.
    private static func mayPing(_ bearer: MonitorService.Bearer, from address: IPAddress?) -> Bool {
        guard case .integration(let record) = bearer else { return true }
        guard let integration = IntegrationRecord(record), integration.isEnabled else { return false }
        let networks = integration.networks
        return networks.isEmpty || address.map { address in networks.contains { $0.contains(address) } } == true
    }

    private func fault(of error: ServiceError) -> ReceiverFault {
        switch error {
        case .badInput(let text), .badRequest(let text, _), .conflicting(let text), .limit(let text):
            return .badInput([text])
        case .unauthorized: return .notFound
        case .tooManyTries(_, let seconds): return .rateLimited(retryAfterSeconds: seconds)
        case .unavailable, .uncertain: return .unavailable(retryAfterSeconds: Self.awaySeconds)
        default:
            _ = report("\(error)")
            return .unavailable(retryAfterSeconds: Self.awaySeconds)
        }
    }

    private static func response(_ fault: ReceiverFault, to request: ReceiverRequest) -> OutgoingResponse {
        OutgoingResponse(PingRequest.answer(fault, to: request))
    }
}

extension MonitorPing {
    /// The ping that a request is.
    fileprivate init(_ request: PingRequest) {
        switch request.signal {
        case .success: self.init(.success, runID: request.runID, text: request.text)
        case .start: self.init(.start, runID: request.runID, text: request.text)
        case .log: self.init(.log, runID: request.runID, text: request.text)
        case .fail(let status): self.init(.fail, exitStatus: status, runID: request.runID, text: request.text)
        }
    }
}
