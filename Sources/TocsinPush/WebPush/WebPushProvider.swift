package import TocsinCore
import Synchronization

/// Pushes to browsers at the push services they have chosen: a lane for each service.
package struct WebPushProvider: PushProvider {
    private let credentials: WebPushCredentials
    private let crypto: any WebPushCrypto
    private let rules: WebPushAddressRules
    private let tokens: VAPIDTokenSource
    private let rounds: SendRounds
    private let pools: RecentPools
    private let time: any TimeSource
    private let timeoutSeconds: Double

    /// A provider for all browsers; `rules` are asked again for each push.
    package init(
        credentials: WebPushCredentials,
        crypto: any WebPushCrypto,
        rules: WebPushAddressRules,
        transport: any PushTransport,
        time: any TimeSource,
        timeoutSeconds: Double = 20,
        metrics: ProviderMetrics? = nil
    ) {
        self.credentials = credentials
        self.crypto = crypto
        self.rules = rules
        self.time = time
        self.timeoutSeconds = timeoutSeconds
        rounds = SendRounds(transport: transport, metrics: metrics)
        tokens = VAPIDTokenSource(credentials: credentials, time: time, metrics: metrics)
        pools = RecentPools()
    }

    /// Always `webPush`.
    package var service: PushService { .webPush }

    /// A lane by the origin of the push service that the subscription names.
    package func lane(of device: Device) -> PushLane? {
        // What cannot be read is told apart when it is sent.
        let origin = (try? subscription(device.token))?.endpoint.origin
        return PushLane(service: .webPush, platform: device.platform, appID: origin ?? "", environment: nil)
    }

    /// Sends an order, each push encrypted for its browser; one whose subscription the settings no
    /// longer allow is skipped.
    package func send(_ order: PushOrder, settled: @escaping @Sendable (Int, PushResult) -> Void) async {
        var readable: [(index: Int, subscription: WebPushSubscription)] = []
        for (index, target) in order.targets.enumerated() {
            do throws(WebPushSubscription.Problem) {
                readable.append((index, try subscription(target.token)))
            } catch {
                // It was fine when it was registered, so the settings have changed since.
                settled(index, .skipped(reason: .subscriptionNotUsable.with(detail: error.reason)))
            }
        }
        let (time, targets) = (time, readable)
        var cancellation: (@Sendable (Int) -> DeliveryReason?)?
        if let asked = order.cancellation { cancellation = { asked(targets[$0].index) } }
        await rounds.run(
            count: targets.count,
            plan: { positions, tried in await plan(order, positions.map { targets[$0] }, tried) },
            decide: { WebPushAnswers(now: time.now()).decision($0) },
            apply: { action, batch in await apply(action, batch) },
            cancellation: cancellation,
            settled: { position, result in settled(targets[position].index, result) }
        )
    }

    private func subscription(_ token: String) throws(WebPushSubscription.Problem) -> WebPushSubscription {
        try WebPushSubscription(token, crypto: crypto, rules: rules)
    }

    private func plan(
        _ order: PushOrder,
        _ targets: [(index: Int, subscription: WebPushSubscription)],
        _ tried: Set<RetryAction>
    ) async -> SendRounds.Plan {
        guard time.now() < order.deadline else { return .settle(.tooLate) }
        let detail: TextFitting.Detail = tried.contains(.smallerPayload) ? .idsOnly : .everything
        guard let message = WebPushMessage(order.payload, startingWith: detail) else {
            return .settle(.refused(reason: .payloadTooLarge))
        }
        let pool = PushPool(
            origin: order.lane.appID,
            credential: credentials.publicKey,
            refusesPrivateAddresses: !rules.allowsPrivateAddresses,
            service: .webPush
        )
        for old in pools.use(pool) { await rounds.transport.close(old) }
        do throws(KeyError) {
            let headers = try headers(message, order)
            var requests: [PushBatch.Request] = []
            for target in targets {
                let plaintext = message.template.filled(for: order.targets[target.index])
                let body = try crypto.encrypted(plaintext, for: target.subscription.receiver)
                requests.append(PushBatch.Request(path: target.subscription.endpoint.path, headers: [], body: body))
                // Each takes as long as two signatures: others want the thread too.
                await Task.yield()
            }
            return .send(
                PushBatch(pool: pool, sharedHeaders: headers, requests: requests, timeoutSeconds: timeoutSeconds)
            )
        } catch {
            return .settle(.pause(reason: DeliveryReason(rawValue: "VAPID key: \(error)")))
        }
    }

    /// Every header of a push.
    private func headers(_ message: WebPushMessage, _ order: PushOrder) throws(KeyError) -> [PushHeader] {
        let lifeSeconds = max(
            0,
            min(Self.maximumLifeSeconds, (order.deadline.milliseconds - time.now().milliseconds) / 1000)
        )
        return [
            PushHeader("authorization", try tokens.authorization(for: order.lane.appID), repeats: true),
            PushHeader("content-encoding", "aes128gcm", repeats: true),
            PushHeader("content-type", "application/octet-stream", repeats: true),
            PushHeader("ttl", String(lifeSeconds)),
            PushHeader("urgency", message.urgency, repeats: true),
            PushHeader("topic", message.topic),
        ]
    }

    /// Four weeks: services keep nothing longer.
    private static let maximumLifeSeconds: Int64 = 2_419_200

    private func apply(_ action: RetryAction, _ batch: PushBatch) async {
        switch action {
        case .none, .newConnection, .otherConnection, .heldCredential, .smallerPayload: return
        case .newCredential: tokens.reject(for: batch.pool.origin)
        }
    }
}

/// The pools in use, so that services clients have named do not hold connections for ever.
final class RecentPools: Sendable {
    private static let maximumPools = 64
    private let pools = Mutex<[PushPool]>([])

    /// Notes a use; answers the pools to be closed for it.
    func use(_ pool: PushPool) -> [PushPool] {
        pools.withLock { pools in
            pools.removeAll { $0 == pool }
            pools.append(pool)
            guard pools.count > Self.maximumPools else { return [] }
            return [pools.removeFirst()]
        }
    }
}
