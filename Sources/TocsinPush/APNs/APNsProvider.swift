package import TocsinCore

/// Pushes to Apple's devices.
package struct APNsProvider: PushProvider {
    private let credentials: APNsCredentials
    private let tokens: APNsTokenSource
    private let rounds: PushRounds
    private let time: any TimeSource
    private let timeoutSeconds: Double

    /// - Parameters:
    ///   - tokens: The token source of this team and key, where other apps use them too: connections are shared by team and
    ///     key, and Apple refuses a second token within 20 minutes on one.
    package init(
        credentials: APNsCredentials,
        transport: any PushTransport,
        time: any TimeSource,
        tokens: APNsTokenSource? = nil,
        timeoutSeconds: Double = 20
    ) {
        self.credentials = credentials
        self.time = time
        self.timeoutSeconds = timeoutSeconds
        rounds = PushRounds(transport: transport)
        self.tokens =
            tokens
            ?? APNsTokenSource(
                teamID: credentials.teamID,
                keyID: credentials.keyID,
                signer: credentials.signer,
                time: time
            )
    }

    package var service: PushService { .apns }

    package func serves(_ lane: PushLane) -> Bool {
        lane.environment.map(credentials.environments.contains) ?? false
    }

    package func lane(of device: Device) -> PushLane? {
        let appID = device.appID.isEmpty ? credentials.bundleID ?? "" : device.appID
        guard Self.isBundleID(appID) else { return nil }
        return PushLane(
            service: .apns,
            platform: device.platform,
            appID: appID,
            environment: device.environment ?? credentials.defaultEnvironment
        )
    }

    package func send(_ order: PushOrder, settled: @escaping @Sendable (Int, PushResult) -> Void) async {
        let good = order.targets.indices.filter { Self.isToken(order.targets[$0].token) }
        if good.count < order.targets.count {
            for index in order.targets.indices where !Self.isToken(order.targets[index].token) {
                settled(index, .retire(reason: "MALFORMED_TOKEN", deadSince: nil))
            }
        }
        let (time, tokens) = (time, tokens)
        var withdrawal: (@Sendable (Int) -> DeliveryReason?)?
        if let asked = order.withdrawal { withdrawal = { asked(good[$0]) } }
        await rounds.run(
            count: good.count,
            plan: { positions, isSmaller in plan(order, positions.map { order.targets[good[$0]] }, isSmaller) },
            judge: { answer in
                let verdict = APNsAnswers(now: time.now()).verdict(answer)
                if case .settled(.retry(let retry)) = verdict,
                    retry.reason == APNsReason.tooManyProviderTokenUpdates.rawValue
                {
                    tokens.hold()
                }
                return verdict
            },
            apply: { remedy, batch in await apply(remedy, batch) },
            withdrawal: withdrawal,
            settled: { position, result in settled(good[position], result) }
        )
    }

    private func plan(_ order: PushOrder, _ targets: [PushTarget], _ isSmaller: Bool) -> PushRounds.Plan {
        let detail: TextFitting.Detail = isSmaller ? .idsOnly : .everything
        guard let notification = APNsNotification(order.payload, startingWith: detail) else {
            return .settle(.refused(reason: "PAYLOAD_TOO_LARGE"))
        }
        let token: String
        do throws(KeyError) {
            token = try tokens.token()
        } catch {
            return .settle(.pause(reason: "APNs key: \(error)"))
        }
        let requests = targets.map { target in
            PushBatch.Request(
                path: "/3/device/" + target.token,
                headers: [PushHeader("apns-id", target.deliveryID.text)],
                body: notification.template.filled(for: target)
            )
        }
        return .send(
            PushBatch(
                pool: pool(order.lane),
                sharedHeaders: headers(notification, order, token: token),
                requests: requests,
                timeoutSeconds: timeoutSeconds
            )
        )
    }

    private func pool(_ lane: PushLane) -> PushPool {
        PushPool(
            origin: credentials.origin(of: lane.environment ?? credentials.defaultEnvironment),
            credential: credentials.teamID + "/" + credentials.keyID,
            opensWithOneStream: true
        )
    }

    /// Every header of a push but `apns-id` (push-providers section 3).
    private func headers(_ notification: APNsNotification, _ order: PushOrder, token: String) -> [PushHeader] {
        [
            PushHeader(Self.authorization, Self.scheme + token, repeats: true),
            PushHeader("apns-topic", order.lane.appID, repeats: true),
            PushHeader("apns-push-type", notification.pushType.rawValue, repeats: true),
            PushHeader("apns-priority", String(notification.priority), repeats: true),
            PushHeader("apns-expiration", String(order.deadline.milliseconds / 1000)),
            PushHeader("apns-collapse-id", notification.collapseID),
        ]
    }

    private static let authorization = "authorization"
    private static let scheme = "bearer "

    private func apply(_ remedy: Remedy, _ batch: PushBatch) async {
        switch remedy {
        case .none, .smallerPayload: return
        case .newConnection: break
        case .newCredential:
            let used = batch.sharedHeaders.first { $0.name == Self.authorization }?.value.dropFirst(Self.scheme.count)
            // A key that cannot sign shows when the next round asks for its token.
            try? tokens.replace(String(used ?? ""))
        }
        await rounds.transport.close(batch.pool)
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
}
