import TocsinCore

/// The way to one webhook: claims its due events, sends them some at a time, and writes
/// down what became of them.
///
/// Lanes share nothing, so a slow or dead receiver delays nobody else's events.
struct WebhookLane: Sendable {
    let name: String
    /// Read for each attempt, for a reload may change the address and the secret.
    let webhooks: Reloadable<[Webhook]>
    let store: any Store
    let http: any OutgoingHTTP
    let time: any TimeSource
    let identifiers: any IdentifierSource
    let policy: RetryPolicy
    let metrics: ProviderMetrics
    let report: @Sendable (WebhookReport) -> Void

    private static let atOnce = 16
    private static let timeoutSeconds = 10.0
    /// Longer than an attempt and what is written after it.
    private static let leaseSeconds = 60.0
    private static let maximumAnswerBytes = 16 << 10
    private static let failedStoreSeconds = 1.0

    /// What a turn found.
    struct Turn: Sendable, Hashable {
        /// Whether more may be due at once.
        var hasMore = false
        /// When to look again; nil: when something comes.
        var due: Timestamp?
        /// Nothing got through, so that the next turn had better wait.
        var isBlocked = false
        var isIdle = true
    }

    private enum Outcome: Sendable {
        case delivered
        case failed(PushRetry)
        /// The receiver says that it wants no more of these.
        case refused(reason: DeliveryReason)
    }

    /// Sends what is due: one event alone while the receiver is in trouble, else some at once.
    func turn(isProbe: Bool) async -> Turn {
        do throws(StoreError) {
            let (now, name) = (time.now(), name)
            let lease = now.adding(seconds: Self.leaseSeconds)
            let limit = isProbe ? 1 : Self.atOnce
            let events = try await store.write { writer throws(StoreError) in
                try writer.claimWebhookEvents(of: name, now: now, leaseUntil: lease, limit: limit)
            }
            let outcomes = await send(events)
            let rows = zip(events, outcomes).map { ($0, row(of: $0, $1)) }
            if !rows.isEmpty { try await write(rows, lease) }
            var turn = Turn(hasMore: events.count == limit, isIdle: events.isEmpty)
            turn.isBlocked = !outcomes.isEmpty && outcomes.allSatisfy { if case .failed = $0 { true } else { false } }
            turn.due = try await store.read { reader throws(StoreError) in try reader.nextWebhookEventDue(of: name) }
            return turn
        } catch {
            if error != .stopped { report(.storeFailed(error)) }
            return Turn(due: time.now().adding(seconds: Self.failedStoreSeconds))
        }
    }

    private func send(_ events: [WebhookEvent]) async -> [Outcome] {
        await withTaskGroup(of: (Int, Outcome).self) { group in
            for (index, event) in events.enumerated() {
                group.addTask { (index, await attempt(event)) }
            }
            var outcomes = [Outcome](repeating: .delivered, count: events.count)
            for await (index, outcome) in group { outcomes[index] = outcome }
            return outcomes
        }
    }

    private func attempt(_ event: WebhookEvent) async -> Outcome {
        guard let webhook = webhooks.value.first(where: { $0.name == name }) else {
            return .failed(PushRetry(.answer, reason: DeliveryReason(rawValue: "the webhook is no longer set")))
        }
        var headers = [("content-type", "application/json"), ("user-agent", "tocsin-webhooks")]
        do throws(KeyError) {
            headers += try WebhookSignature.headers(of: event, at: time.now(), signer: webhook.signer)
        } catch {
            return .failed(PushRetry(.answer, reason: DeliveryReason(rawValue: "it cannot be signed: \(error)")))
        }
        let request = OutgoingRequest(
            method: "POST",
            url: webhook.url,
            headers: headers,
            body: Array(event.body.utf8),
            timeoutSeconds: Self.timeoutSeconds,
            maximumBodyBytes: Self.maximumAnswerBytes
        )
        let start = ContinuousClock.now
        switch await http.send(request) {
        case .failed(let reason):
            metrics.note(status: nil, .broken, since: start)
            return .failed(PushRetry(.brokenRequest, reason: DeliveryReason(rawValue: ReasonText.cleaned(reason))))
        case .response(let status, let headers, _):
            let outcome = outcome(status, headers)
            count(outcome, status, of: event, since: start)
            return outcome
        }
    }

    private func count(_ outcome: Outcome, _ status: Int, of event: WebhookEvent, since start: ContinuousClock.Instant)
    {
        switch outcome {
        case .delivered:
            metrics.note(status: status, .accepted, since: start)
            metrics.noteAcceptance(of: event.createdAt, at: time.now(), isUrgent: false)
        case .failed: metrics.note(status: status, .retry, since: start)
        case .refused: metrics.note(status: status, .ended, since: start)
        }
    }

    private func outcome(_ status: Int, _ headers: [(name: String, value: String)]) -> Outcome {
        let reason = DeliveryReason.http(status)
        switch status {
        case 200..<300: return .delivered
        case 410: return .refused(reason: reason)
        default:
            let wish = headers.first { $0.name == "retry-after" }.map { PushHeader($0.name, $0.value) }
            let answer = PushResponse(status: status, headers: wish.map { [$0] } ?? [], body: [])
            return .failed(
                PushRetry(.answer, reason: reason, afterSeconds: RetryAfter.seconds(in: answer, now: time.now()))
            )
        }
    }

    /// The event's next row; nil when it has arrived.
    private func row(of event: WebhookEvent, _ outcome: Outcome) -> WebhookEvent? {
        var row = event
        row.attempts += 1
        row.leaseUntil = nil
        switch outcome {
        case .delivered: return nil
        case .refused(let reason): return dead(row, reason)
        case .failed(let retry):
            let pause = policy.pauseSeconds(retry, attempts: row.attempts, unit: identifiers.randomUnit())
            let end = event.createdAt.adding(seconds: policy.lifetimeSeconds)
            guard let pause, case let next = time.now().adding(seconds: pause), next <= end else {
                return dead(row, retry.reason)
            }
            row.status = .waiting
            row.reason = retry.reason.rawValue
            row.nextAttemptAt = next
            return row
        }
    }

    private func dead(_ event: WebhookEvent, _ reason: DeliveryReason) -> WebhookEvent {
        var row = event
        row.status = .dead
        row.reason = reason.rawValue
        row.nextAttemptAt = nil
        return row
    }

    private func write(_ rows: [(WebhookEvent, WebhookEvent?)], _ lease: Timestamp) async throws(StoreError) {
        try await store.write { writer throws(StoreError) in
            for (event, row) in rows {
                if let row {
                    try writer.record(row, heldUntil: lease)
                } else {
                    try writer.finish(event, heldUntil: lease)
                }
            }
        }
        for (event, row) in rows {
            guard let row else {
                metrics.note(.accepted, nil)
                continue
            }
            if row.status == .dead {
                metrics.note(.failed, nil)
                report(.dead(name, event.type, event.id, reason: row.reason ?? ""))
            } else {
                report(.retrying(name, event.type, event.id, reason: row.reason ?? "", attempts: row.attempts))
            }
        }
    }
}
