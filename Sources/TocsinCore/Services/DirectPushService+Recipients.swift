/// Whom a push is for.
extension DirectPushService {
    /// Devices that are read at once.
    private static let devicePage = 500

    /// Whom a text means: a local user's name comes before an id.
    ///
    /// Whoever reaches nobody else learns of no names but their own.
    func userID(_ user: String, _ caller: Identity) async throws(ServiceError) -> UserID {
        if user == caller.username || user == caller.userID.text { return caller.userID }
        guard AccessPolicy.pushReach(of: caller) == .everybody else { throw .unauthorized }
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.account(named: user)?.id ?? UserID(user)
        }
    }

    /// The user as the owner of a message; nil: nothing is known of them.
    func keeper(_ user: UserID) async throws(ServiceError) -> Identity? {
        let found = try await environment.store.reading(for: .server) { reader throws(StoreError) in
            try reader.standings(of: [user], tokensAt: nil)[user]
        }
        guard let name = found?.account?.name ?? found?.facts?.username, !name.isEmpty else { return nil }
        return Identity(userID: user, username: name, provider: found?.facts?.provider ?? .userPools)
    }

    /// Stores a message of each user's own who has devices, then the sender's, which reaches the
    /// devices of those of whom nothing is known.
    func sendToEach(
        _ order: Order,
        _ caller: Identity,
        _ reach: AccessPolicy.PushReach
    ) async throws(ServiceError) -> Receipt {
        guard let found = try await everybody(order, caller) else { throw Self.tooMany }
        var (devices, unknown) = (0, Set<UserID>())
        for user in Set(found.map(\.userID)).sorted(by: { $0.text < $1.text }) {
            guard let owner = try await keeper(user) else {
                unknown.insert(user)
                continue
            }
            var own = order
            (own.isForEverybody, own.userID) = (false, user)
            devices += try await store(own, of: owner, reach).devices
        }
        let rest = found.filter { unknown.contains($0.userID) }.map(\.id)
        var receipt = try await store(order, of: caller, reach, everybody: rest)
        receipt.devices += devices
        return receipt
    }

    /// One delivery for each device that is reached, waiting, and for each
    /// token that is not, skipped; `everybody` are the devices of a push to everybody.
    func deliveries(
        of message: MessageID,
        _ order: Order,
        _ reach: AccessPolicy.PushReach,
        among everybody: [Device],
        _ now: Timestamp,
        _ reader: any StoreReader
    ) throws(StoreError) -> [Delivery] {
        var devices: [DeviceID: Device] = [:]
        for device in everybody { devices[device.id] = device }
        var unknown: Set<String> = []
        if let user = order.userID {
            for device in try reader.devices(of: user) where device.isActive { devices[device.id] = device }
        }
        for given in order.tokens {
            let token = environment.canonicalToken(given)
            // Hexadecimal is only a spelling of bytes; devices have it in lower case.
            var found = try reader.devices(token: token)
            if found.isEmpty { found = try reader.devices(token: token.lowercased()).filter { $0.platform == .ios } }
            let reached = found.filter { reach == .everybody || reach == .only($0.userID) }
            if reached.isEmpty { unknown.insert(token) }
            for device in reached { devices[device.id] = device }
        }
        var addressed: [Device] = []
        if let address = order.address {
            addressed = try reader.devices(address: address).filter {
                $0.isActive && (reach == .everybody || reach == .only($0.userID))
            }
            for device in addressed { devices[device.id] = device }
        }
        let chosen = devices.values.filter { order.platforms.contains($0.platform) }
        var rows = chosen.map { device in
            let row = row(of: message, to: device.id, device.platform, now)
            return device.isActive ? row : row.final(.ended, device.disabledReason ?? .deviceInactive)
        }
        // The token itself is not kept: it may be somebody's.
        rows += unknown.sorted().map { token in
            let stand = DeviceID("unknown:" + DerivedUUID.text(of: message.text, token))
            return row(of: message, to: stand, nil, now).final(.skipped, .unknownToken)
        }
        if let address = order.address, addressed.isEmpty {
            let stand = DeviceID("unknown:" + DerivedUUID.text(of: message.text, address))
            rows.append(row(of: message, to: stand, nil, now).final(.skipped, .unknownAddress))
        }
        if let user = order.userID, !chosen.contains(where: { $0.userID == user }) {
            let missing = row(of: message, to: .missing(of: user), nil, now)
            rows.append(missing.final(.skipped, .noDevice))
        }
        return rows
    }

    /// All active devices on the order's platforms, read before a write; nil: there are too many.
    func everybody(_ order: Order, _ caller: Identity) async throws(ServiceError) -> [Device]? {
        let platforms = order.platforms
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            var found: [Device] = []
            while true {
                let page = try reader.activeDevices(on: platforms, after: found.last?.id, limit: Self.devicePage)
                found += page
                guard found.count <= Self.maximumDevices else { return nil }
                guard page.count == Self.devicePage else { return found }
            }
        }
    }

    /// A row that waits.
    func row(
        of message: MessageID,
        to device: DeviceID,
        _ platform: PushPlatform?,
        _ now: Timestamp
    ) -> Delivery {
        Delivery(
            id: DeliveryID(of: message, to: device),
            messageID: message,
            deviceID: device,
            platform: platform,
            status: .waiting,
            nextAttemptAt: now,
            updatedAt: now
        )
    }
}

extension Delivery {
    fileprivate func final(_ status: DeliveryStatus, _ reason: DeliveryReason) -> Delivery {
        var delivery = self
        delivery.status = status
        delivery.reason = reason
        delivery.nextAttemptAt = nil
        return delivery
    }
}
