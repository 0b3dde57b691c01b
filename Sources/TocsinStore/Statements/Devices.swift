import TocsinCore

private enum SQL {
    static let selection = "SELECT \(Device.columns) FROM devices AS d"
    static let ofUser = selection + " WHERE d.user_id = $1 ORDER BY d.id"
    static let next = selection + " WHERE d.id > $1 ORDER BY d.id LIMIT $2"
    static let nextActive = selection + " WHERE d.id > $1 AND d.active = 1 AND d.platform IN ("
    static let withToken = selection + " WHERE d.token = $1 ORDER BY d.app_id"
    static let bound = selection + " WHERE d.bound_token = $1 AND d.active = 1 ORDER BY d.id"
    static let save = """
        INSERT INTO devices (id, user_id, platform, environment, app_id, token, name, active, disabled_reason,
            registered_at, last_seen_at, active_since, kind, hardware_id, bound_token, bound_until, address, proven_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $10, $12, $13, $14, $15, $16, $17)
        ON CONFLICT (id) DO UPDATE SET user_id = excluded.user_id, platform = excluded.platform,
            environment = excluded.environment, app_id = excluded.app_id, token = excluded.token, name = excluded.name,
            kind = excluded.kind, hardware_id = excluded.hardware_id, bound_token = excluded.bound_token,
            bound_until = excluded.bound_until, active = excluded.active, disabled_reason = excluded.disabled_reason,
            registered_at = excluded.registered_at, last_seen_at = excluded.last_seen_at,
            address = excluded.address, proven_at = excluded.proven_at,
            active_since = CASE WHEN devices.active = 1 AND devices.user_id = excluded.user_id
                THEN devices.active_since ELSE excluded.active_since END
        """
    static let remove = "DELETE FROM devices WHERE id = $1"
    static let retire = """
        UPDATE devices SET active = 0, disabled_reason = $2 WHERE id = $1 AND active = 1 AND registered_at <= $3
        """
    /// A colon is followed by a semicolon.
    static let withTokenBeginning = selection + " WHERE d.token > $1 || ':' AND d.token < $1 || ';' ORDER BY d.token"
    static let learnEnvironment = "UPDATE devices SET environment = $2 WHERE id = $1 AND environment IS NULL"
    static let ofAddress = selection + " WHERE d.address = $1 ORDER BY d.id"
    static let useNonce = """
        INSERT INTO used_nonces (nonce, expires_at) VALUES ($1, $2) ON CONFLICT (nonce) DO NOTHING
        """
    static let removeNonces = "DELETE FROM used_nonces WHERE expires_at < $1"
    static let isMuted = "SELECT 1 FROM muted_users WHERE user_id = $1"
    static let mute = "INSERT INTO muted_users (user_id, muted_at) VALUES ($1, $2) ON CONFLICT (user_id) DO NOTHING"
    static let unmute = "DELETE FROM muted_users WHERE user_id = $1"
}

extension SQLReading {
    func devices(of user: UserID) throws(StoreError) -> [Device] {
        try connection.all(SQL.ofUser + lock("d"), [.text(user.text)]) { Device($0, at: 0) }
    }

    func devices(ids: [DeviceID]) throws(StoreError) -> [Device] {
        var devices: [Device] = []
        for chunk in ids.map(\.text).chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk)
            devices += try connection.all(
                SQL.selection + " WHERE d.id IN (\(list.placeholders))" + lock("d"),
                list.bindings
            ) { Device($0, at: 0) }
        }
        return devices
    }

    func devices(after id: DeviceID?, limit: Int) throws(StoreError) -> [Device] {
        try connection.all(SQL.next, [.text(id?.text ?? ""), .int(Int64(limit))]) { Device($0, at: 0) }
    }

    func activeDevices(
        on platforms: Set<PushPlatform>,
        after id: DeviceID?,
        limit: Int
    ) throws(StoreError) -> [Device] {
        guard !platforms.isEmpty else { return [] }
        let list = BoundList(platforms.map(\.rawValue).sorted(), firstParameter: 3)
        return try connection.all(
            SQL.nextActive + list.placeholders + ") ORDER BY d.id LIMIT $2",
            [.text(id?.text ?? ""), .int(Int64(limit))] + list.bindings
        ) { Device($0, at: 0) }
    }

    func devices(token: String) throws(StoreError) -> [Device] {
        try connection.all(SQL.withToken + lock("d"), [.text(token)]) { Device($0, at: 0) }
    }

    func devices(tokenBeginningWith text: String) throws(StoreError) -> [Device] {
        try connection.all(SQL.withTokenBeginning + lock("d"), [.text(text)]) { Device($0, at: 0) }
    }

    func devices(boundTo token: TokenID) throws(StoreError) -> [Device] {
        try connection.all(SQL.bound + lock("d"), [.text(token.text)]) { Device($0, at: 0) }
    }

    func devices(address: String) throws(StoreError) -> [Device] {
        try connection.all(SQL.ofAddress + lock("d"), [.text(address)]) { Device($0, at: 0) }
    }

    func isMuted(_ user: UserID) throws(StoreError) -> Bool {
        try connection.first(SQL.isMuted, [.text(user.text)]) { $0.int(0) } != nil
    }
}

extension SQLWriter {
    /// How many a user has is decided upon.
    func devices(of user: UserID) throws(StoreError) -> [Device] {
        try lock(name: "devices of " + user.text)
        return try connection.all(SQL.ofUser + lock("d"), [.text(user.text)]) { Device($0, at: 0) }
    }

    func save(_ device: Device) throws(StoreError) {
        try connection.run(
            SQL.save,
            [
                .text(device.id.text), .text(device.userID.text), .text(device.platform.rawValue),
                SQLValue(device.environment?.rawValue), .text(device.appID), .text(device.token), SQLValue(device.name),
                SQLValue(device.isActive), SQLValue(device.disabledReason?.rawValue), SQLValue(device.registeredAt),
                SQLValue(device.lastSeenAt), .text(device.kind.rawValue), SQLValue(device.hardwareID),
                SQLValue(device.binding?.token?.text), SQLValue(device.binding?.end), SQLValue(device.address),
                SQLValue(device.provenAt),
            ]
        )
    }

    func removeDevice(_ id: DeviceID, reason: DeliveryReason) throws(StoreError) {
        try noteEnd(of: id, reason: reason, registeredBy: nil)
        try connection.run(SQL.remove, [.text(id.text)])
        note(.deviceEnded(id, reason: reason))
    }

    func retireDevice(
        _ id: DeviceID,
        reason: DeliveryReason,
        registeredBy moment: Timestamp
    ) throws(StoreError) -> Bool {
        try noteEnd(of: id, reason: reason, registeredBy: moment)
        return try connection.run(SQL.retire, [.text(id.text), .text(reason.rawValue), SQLValue(moment)]) > 0
    }

    func learnEnvironment(_ environment: PushEnvironment, of id: DeviceID) throws(StoreError) {
        try connection.run(SQL.learnEnvironment, [.text(id.text), .text(environment.rawValue)])
    }

    func useNonce(_ nonce: String, until moment: Timestamp) throws(StoreError) -> Bool {
        try connection.run(SQL.useNonce, [.text(nonce), SQLValue(moment)]) > 0
    }

    func removeNonces(before moment: Timestamp) throws(StoreError) -> Int {
        Int(try connection.run(SQL.removeNonces, [SQLValue(moment)]))
    }

    func setMuted(_ isMuted: Bool, of user: UserID, now: Timestamp) throws(StoreError) {
        try connection.run(
            isMuted ? SQL.mute : SQL.unmute,
            isMuted ? [.text(user.text), SQLValue(now)] : [.text(user.text)]
        )
        if isMuted { note(.pushesUnwanted(user, nil, .notificationsOff)) }
    }
}

extension Device {
    /// Columns of a selection from `devices AS d`, as `init(_:at:)` reads them.
    static let columns = """
        d.id, d.user_id, d.platform, d.environment, d.app_id, d.token, d.name, d.active, d.disabled_reason, \
        d.registered_at, d.last_seen_at, EXISTS (SELECT 1 FROM muted_users AS q WHERE q.user_id = d.user_id), d.kind, \
        d.hardware_id, d.bound_token, d.bound_until, CASE WHEN d.bound_token IS NULL THEN d.bound_until \
        ELSE coalesce((SELECT CASE WHEN b.revoked_at IS NULL THEN b.expires_at ELSE 0 END \
        FROM tokens AS b WHERE b.id = d.bound_token), (SELECT CASE WHEN s.ended_at IS NOT NULL THEN 0 \
        WHEN s.idle_until < s.expires_at THEN s.idle_until ELSE s.expires_at END \
        FROM sessions AS s WHERE s.id = d.bound_token), 0) END, d.address, d.proven_at
        """
    /// How many those are.
    static let columnCount = 19

    /// Reads a device whose columns begin at `first`; nil when a value has no meaning.
    init?(_ row: any SQLRow, at first: Int) {
        guard let platform = PushPlatform(rawValue: row.text(first + 2)),
            let kind = PushTokenKind(rawValue: row.text(first + 12))
        else { return nil }
        let environment = row.optionalText(first + 3).map(PushEnvironment.init(rawValue:))
        if case .some(.none) = environment { return nil }
        self.init(
            id: DeviceID(row.text(first)),
            userID: UserID(row.text(first + 1)),
            platform: platform,
            environment: environment ?? nil,
            appID: row.text(first + 4),
            token: row.text(first + 5),
            name: row.optionalText(first + 6),
            isActive: row.int(first + 7) != 0,
            disabledReason: row.optionalText(first + 8).map(DeliveryReason.init(rawValue:)),
            registeredAt: row.moment(first + 9),
            lastSeenAt: row.moment(first + 10),
            kind: kind,
            hardwareID: row.optionalText(first + 13)
        )
        isMuted = row.int(first + 11) != 0
        if let token = row.optionalText(first + 14) {
            binding = .token(TokenID(token))
        } else if let end = row.optionalMoment(first + 15) {
            binding = .end(end)
        }
        signedInUntil = row.optionalMoment(first + 16)
        address = row.optionalText(first + 17)
        provenAt = row.optionalMoment(first + 18)
    }
}

extension Device.Binding {
    fileprivate var token: TokenID? { if case .token(let id) = self { id } else { nil } }
    fileprivate var end: Timestamp? { if case .end(let moment) = self { moment } else { nil } }
}
