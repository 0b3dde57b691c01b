package import TocsinCore

/// Pushes to Android devices, iPhones and browsers through Firebase Cloud Messaging.
package struct FCMProvider: PushProvider {
    private let credentials: FCMCredentials
    private let tokens: FCMAccessTokenSource
    private let rounds: SendRounds
    private let time: any TimeSource
    private let timeoutSeconds: Double
    private static let scheme = "Bearer "

    /// A provider of one project; `tokens` are fetched when the first push is sent.
    package init(
        credentials: FCMCredentials,
        transport: any PushTransport,
        http: any OutgoingHTTP,
        time: any TimeSource,
        timeoutSeconds: Double = 20,
        metrics: ProviderMetrics? = nil
    ) {
        self.credentials = credentials
        self.time = time
        self.timeoutSeconds = timeoutSeconds
        rounds = SendRounds(transport: transport, metrics: metrics)
        tokens = FCMAccessTokenSource(credentials: credentials, http: http, time: time, metrics: metrics)
    }

    /// Always `fcm`.
    package var service: PushService { .fcm }

    /// A lane by platform; one project serves all its devices.
    package func lane(of device: Device) -> PushLane? {
        PushLane(service: .fcm, platform: device.platform, appID: credentials.projectID, environment: nil)
    }

    /// Sends an order under the project's access token.
    package func send(_ order: PushOrder, settled: @escaping @Sendable (Int, PushResult) -> Void) async {
        let time = time
        await rounds.run(
            count: order.targets.count,
            plan: { indices, tried in await plan(order, indices.map { order.targets[$0] }, tried) },
            decide: { FCMAnswers(now: time.now()).decision($0) },
            apply: { action, batch in await apply(action, batch) },
            cancellation: order.cancellation,
            settled: settled
        )
    }

    private func plan(_ order: PushOrder, _ targets: [PushTarget], _ tried: Set<RetryAction>) async -> SendRounds.Plan {
        guard time.now() < order.deadline else { return .settle(.tooLate) }
        let token: String
        switch await tokens.token() {
        case .success(let text): token = text
        case .failure(let trouble): return .settle(.pause(reason: DeliveryReason(rawValue: trouble.reason)))
        }
        // A token may take its time.
        let life = FCMLife(until: order.deadline, now: time.now())
        guard life.seconds > 0 else { return .settle(.tooLate) }
        let message = FCMMessage(
            order.payload,
            platform: order.lane.platform,
            life: life,
            mayBeCritical: credentials.mayBeCritical,
            startingWith: tried.contains(.smallerPayload) ? .idsOnly : .everything
        )
        guard let message else { return .settle(.refused(reason: .payloadTooLarge)) }
        let path = "/v1/projects/\(credentials.projectID)/messages:send"
        let requests = targets.map { target in
            PushBatch.Request(path: path, headers: [], body: message.template.filled(for: target))
        }
        let headers = [
            PushHeader("authorization", Self.scheme + token, repeats: true),
            PushHeader("content-type", "application/json", repeats: true),
        ]
        return .send(
            PushBatch(pool: pool, sharedHeaders: headers, requests: requests, timeoutSeconds: timeoutSeconds)
        )
    }

    private var pool: PushPool {
        PushPool(
            origin: credentials.origin,
            credential: credentials.projectID + "/" + credentials.clientEmail,
            service: .fcm
        )
    }

    private func apply(_ action: RetryAction, _ batch: PushBatch) async {
        switch action {
        case .none, .newConnection, .otherConnection, .heldCredential, .smallerPayload: return
        case .newCredential:
            let used = batch.sharedHeaders.first { $0.value.hasPrefix(Self.scheme) }?.value.dropFirst(Self.scheme.count)
            await tokens.reject(String(used ?? ""))
        }
    }
}
