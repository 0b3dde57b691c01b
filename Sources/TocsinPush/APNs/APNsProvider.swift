import Synchronization
package import TocsinCore

/// Pushes to Apple's devices.
package struct APNsProvider: PushProvider {
    private let credentials: APNsCredentials
    private let tokens: APNsTokenSource
    private let pools = PoolGenerations()
    private let rounds: SendRounds
    private let time: any TimeSource
    private let timeoutSeconds: Double

    /// - Parameters:
    ///   - tokens: The token source of this team and key, where other apps use them too:
    ///     connections are shared by team and key, and Apple refuses a second token
    ///     within 20 minutes on one.
    package init(
        credentials: APNsCredentials,
        transport: any PushTransport,
        time: any TimeSource,
        tokens: APNsTokenSource? = nil,
        timeoutSeconds: Double = 20,
        metrics: ProviderMetrics? = nil
    ) {
        self.credentials = credentials
        self.time = time
        self.timeoutSeconds = timeoutSeconds
        rounds = SendRounds(transport: transport, metrics: metrics)
        self.tokens =
            tokens
            ?? APNsTokenSource(
                teamID: credentials.teamID,
                keyID: credentials.keyID,
                signer: credentials.signer,
                time: time,
                metrics: metrics
            )
    }

    /// Always `apns`.
    package var service: PushService { .apns }

    /// Whether the key is for the lane's side of Apple's.
    package func serves(_ lane: PushLane) -> Bool {
        lane.environment.map(credentials.environments.contains) ?? false
    }

    /// A lane by bundle id and side; nil when there is no bundle id, or it is not for messages.
    package func lane(of device: Device) -> PushLane? {
        let appID = device.appID.isEmpty ? credentials.bundleID ?? "" : device.appID
        guard Self.isBundleID(appID), pushType(of: appID).carriesMessages else { return nil }
        return PushLane(
            service: .apns,
            platform: device.platform,
            appID: appID,
            environment: device.environment ?? credentials.defaultEnvironment
        )
    }

    private func pushType(of topic: String) -> APNsPushType {
        APNsPushType(topic: topic, bundleID: credentials.bundleID)
    }

    /// Sends an order; a malformed token retires its device without being sent.
    package func send(_ order: PushOrder, settled: @escaping @Sendable (Int, PushResult) -> Void) async {
        let good = order.targets.indices.filter { Self.isToken(order.targets[$0].token) }
        if good.count < order.targets.count {
            for index in order.targets.indices where !Self.isToken(order.targets[index].token) {
                settled(index, .retire(reason: .malformedToken, deadSince: nil))
            }
        }
        let side = order.lane.environment ?? credentials.defaultEnvironment
        guard let otherSide = reachableSide(beside: side),
            good.contains(where: { order.targets[$0].isEnvironmentAssumed })
        else { return await send(order, good, settled) }
        let unknown = UnknownTokens()
        await send(order, good) { index, result in
            guard order.targets[index].isEnvironmentAssumed, result == EnvironmentFallback.wrongSide else {
                return settled(index, result)
            }
            unknown.indices.withLock { $0.append(index) }
        }
        var elsewhere = order
        elsewhere.lane.environment = otherSide
        await send(elsewhere, unknown.indices.withLock { $0 }) { index, result in
            settled(index, EnvironmentFallback.result(of: result, on: otherSide))
        }
    }

    /// Sends to these of the order's targets.
    private func send(
        _ order: PushOrder,
        _ indices: [Int],
        _ settled: @escaping @Sendable (Int, PushResult) -> Void
    ) async {
        guard !indices.isEmpty else { return }
        let time = time
        var cancellation: (@Sendable (Int) -> DeliveryReason?)?
        if let asked = order.cancellation { cancellation = { asked(indices[$0]) } }
        await rounds.run(
            count: indices.count,
            plan: { positions, tried in await plan(order, positions.map { order.targets[indices[$0]] }, tried) },
            decide: { APNsAnswers(now: time.now()).decision($0) },
            apply: { action, batch in await apply(action, batch) },
            cancellation: cancellation,
            settled: { position, result in settled(indices[position], result) }
        )
    }

    private func plan(_ order: PushOrder, _ targets: [PushTarget], _ tried: Set<RetryAction>) async -> SendRounds.Plan {
        guard time.now() < order.deadline else { return .settle(.tooLate) }
        let detail: TextFitting.Detail = tried.contains(.smallerPayload) ? .idsOnly : .everything
        let type = pushType(of: order.lane.appID)
        // Apple ends an app that gets such a push and reports no call.
        guard type != .voip || !order.payload.options.silent else { return .settle(.skipped(reason: .silentCall)) }
        let notification = APNsNotification(
            order.payload,
            type: type,
            mayBeCritical: credentials.mayBeCritical,
            startingWith: detail
        )
        guard let notification else { return .settle(.refused(reason: .payloadTooLarge)) }
        let token: String
        do throws(KeyError) {
            token = try tokens.token()
        } catch {
            return .settle(.pause(reason: DeliveryReason(rawValue: "APNs key: \(error)")))
        }
        let requests = targets.map { target in
            var headers = [PushHeader("apns-id", target.deliveryID.text)]
            if notification.pushType == nil { headers.append(pushTypeHeader(notification.pushType(for: target))) }
            return PushBatch.Request(
                path: "/3/device/" + target.token,
                headers: headers,
                body: notification.template.filled(for: target)
            )
        }
        let (pool, replaced) = pools.pool(pool(order.lane, tried), token: token)
        if let replaced { await rounds.transport.close(replaced) }
        return .send(
            PushBatch(
                pool: pool,
                sharedHeaders: headers(notification, order, token: token),
                requests: requests,
                timeoutSeconds: timeoutSeconds
            )
        )
    }

    private func pool(_ lane: PushLane, _ tried: Set<RetryAction>) -> PushPool {
        PushPool(
            origin: credentials.origin(of: lane.environment ?? credentials.defaultEnvironment),
            credential: credentials.teamID + "/" + credentials.keyID + credentials.edition,
            opensWithOneStream: true,
            isSpare: tried.contains(.otherConnection),
            service: .apns
        )
    }

    private func pushTypeHeader(_ type: APNsPushType) -> PushHeader {
        PushHeader("apns-push-type", type.rawValue, repeats: true)
    }

    /// Every header of a push but those that differ between devices.
    private func headers(_ notification: APNsNotification, _ order: PushOrder, token: String) -> [PushHeader] {
        var headers = [
            PushHeader(Self.authorization, Self.scheme + token, repeats: true),
            PushHeader("apns-topic", order.lane.appID, repeats: true),
            PushHeader("apns-priority", String(notification.priority), repeats: true),
            PushHeader("apns-expiration", String(order.deadline.milliseconds / 1000)),
            PushHeader("apns-collapse-id", notification.collapseID),
        ]
        if let type = notification.pushType { headers.append(pushTypeHeader(type)) }
        return headers
    }

    private static let authorization = "authorization"
    private static let scheme = "bearer "

    private func apply(_ action: RetryAction, _ batch: PushBatch) async {
        switch action {
        case .none, .otherConnection, .smallerPayload: return
        case .newConnection: break
        case .heldCredential: tokens.hold()
        case .newCredential:
            let used = batch.sharedHeaders.first { $0.name == Self.authorization }?.value.dropFirst(Self.scheme.count)
            // A key that cannot sign shows when the next round asks for its token.
            try? tokens.replace(String(used ?? ""))
        }
        if pools.retire(batch.pool) { await rounds.transport.close(batch.pool) }
    }

    /// Letters, digits, hyphens and dots, as in a reverse domain name.
    private static func isBundleID(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
    }

    /// Anything that is safe in a path; Apple judges the rest.
    private static func isToken(_ text: String) -> Bool {
        (1...512).contains(text.utf8.count) && text.utf8.allSatisfy(isAlphanumeric)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// The other of Apple's sides, if it is another place.
    private func reachableSide(beside side: PushEnvironment) -> PushEnvironment? {
        let other: PushEnvironment = side == .production ? .sandbox : .production
        guard credentials.environments.contains(other) else { return nil }
        return credentials.origin(of: other) == credentials.origin(of: side) ? nil : other
    }

    /// Shared with the transport's threads while a round is under way.
    private final class UnknownTokens: Sendable {
        let indices = Mutex<[Int]>([])
    }
}

/// Numbers a provider's pools, so that one is replaced once, however many of its pushes ask for it.
///
/// A connection carries one token only. Apple refuses a second token within 20 minutes on the same
/// connection, and a connection that has seen an expired token stays stuck.
final class PoolGenerations: Sendable {
    private struct Current {
        var generation = 0
        var token: String
        /// Whether any push has gone through it.
        var isUsed = false
    }

    /// By the pool with generation 0.
    private let state = Mutex<[PushPool: Current]>([:])

    /// The pool to use with a token, and the one it takes the place of, which is to be closed.
    func pool(_ base: PushPool, token: String) -> (pool: PushPool, replaced: PushPool?) {
        state.withLock { state in
            var current = state[base] ?? Current(token: token)
            let old = Self.numbered(base, current.generation)
            let isNew = current.isUsed && current.token != token
            if isNew { current.generation += 1 }
            (current.token, current.isUsed) = (token, true)
            state[base] = current
            return (Self.numbered(base, current.generation), isNew ? old : nil)
        }
    }

    /// Has the next pushes use new connections; false when others have seen to that
    /// since the pool was used.
    func retire(_ used: PushPool) -> Bool {
        state.withLock { state in
            let base = Self.numbered(used, 0)
            guard state[base]?.generation == used.generation else { return false }
            state[base]?.generation += 1
            state[base]?.isUsed = false
            return true
        }
    }

    private static func numbered(_ pool: PushPool, _ generation: Int) -> PushPool {
        var pool = pool
        pool.generation = generation
        return pool
    }
}
