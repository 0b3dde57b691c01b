/// Registers and unregisters the tokens of people's devices.
package struct DeviceService: Sendable {
    private let environment: ServiceEnvironment
    private let checks: InputChecks

    package init(environment: ServiceEnvironment) {
        self.environment = environment
        checks = InputChecks(limits: environment.limits)
    }

    /// What a client says of its device.
    package struct Registration: Sendable, Hashable {
        package var token: String
        package var platform: PushPlatform
        package var environment: PushEnvironment?
        package var appID: String
        /// The id the client got before; its row is kept when only the token changed.
        package var deviceID: DeviceID?
        package var name: String?

        package init(
            token: String,
            platform: PushPlatform,
            environment: PushEnvironment? = nil,
            appID: String = "",
            deviceID: DeviceID? = nil,
            name: String? = nil
        ) {
            self.token = token
            self.platform = platform
            self.environment = environment
            self.appID = appID
            self.deviceID = deviceID
            self.name = name
        }
    }

    /// Registers a token for the caller: idempotent, revives a retired one, and moves one that another user had, whose
    /// waiting pushes to it end in the same transaction.
    ///
    /// Answers the device and all the caller's devices.
    package func register(
        _ registration: Registration,
        caller: Identity
    ) async throws(ServiceError) -> (device: Device, all: [Device]) {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true) else { throw .unauthorized }
        var registration = registration
        registration.token = try canonical(registration.token, registration.platform)
        try check(registration)
        // Hexadecimal is only a spelling of bytes: one phone, one row.
        if registration.platform == .ios { registration.token = registration.token.lowercased() }
        let (environment, wanted) = (environment, registration)
        return try await environment.store.writing { writer throws(StoreError) in
            let now = environment.time.now()
            let own = try writer.devices(of: caller.userID)
            let previous = try previousDevice(wanted, own: own, writer)
            guard previous?.userID == caller.userID || own.count < environment.limits.devicesPerUser else {
                return .failure(
                    .limit("A user may have at most \(environment.limits.devicesPerUser) devices; remove one first.")
                )
            }
            if let previous, previous.userID != caller.userID {
                try writer.endDeliveries(of: previous.id, reason: "TOKEN_MOVED", now: now)
                try writer.removeDevice(previous.id, reason: "TOKEN_MOVED")
                try environment.raise(.unregistered(previous, reason: "TOKEN_MOVED"), writer)
            }
            let isOwn = previous?.userID == caller.userID
            let id = isOwn ? previous?.id : nil
            let device = Device(
                id: id ?? DeviceID(environment.identifiers.makeID()),
                userID: caller.userID,
                platform: wanted.platform,
                environment: wanted.environment,
                appID: wanted.appID,
                token: wanted.token,
                name: wanted.name ?? (isOwn ? previous?.name : nil),
                registeredAt: now,
                lastSeenAt: now
            )
            try writer.save(device)
            if !isOwn || previous?.isActive != true || previous?.token != device.token {
                try environment.raise(.registered(device), writer)
            }
            return .success((device, try writer.devices(of: caller.userID)))
        }
    }

    /// Removes the caller's devices with this token; their waiting pushes end at once.
    ///
    /// Unknown tokens change nothing.
    package func unregister(token: String, caller: Identity) async throws(ServiceError) -> [Device] {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true) else { throw .unauthorized }
        try checks.checkText(token, field: "token", maximumBytes: environment.limits.tokenBytes)
        let environment = environment
        var spellings = Set([token, token.lowercased()])
        // What was no subscription when it came was not registered either.
        spellings.insert(environment.canonicalToken(token))
        let all = spellings
        return try await environment.store.writing { writer throws(StoreError) in
            var registered: [Device] = []
            for spelling in all { registered += try writer.devices(token: spelling) }
            for device in registered where device.userID == caller.userID {
                try writer.endDeliveries(of: device.id, reason: "UNREGISTERED", now: environment.time.now())
                try writer.removeDevice(device.id, reason: "UNREGISTERED")
                try environment.raise(.unregistered(device, reason: "UNREGISTERED"), writer)
            }
            return .success(try writer.devices(of: caller.userID))
        }
    }

    /// The key that browsers subscribe with; nil when Web Push is not set up.
    package var webPushKey: String? { environment.webPush?.applicationServerKey }

    /// The caller's devices.
    package func devices(caller: Identity) async throws(ServiceError) -> [Device] {
        guard AccessPolicy.mayManageOwnThings(caller, writing: false) else { throw .unauthorized }
        return try await environment.store.reading { reader throws(StoreError) in
            try reader.devices(of: caller.userID)
        }
    }

    /// Whether the caller wants pushes.
    package func wantsPushes(caller: Identity) async throws(ServiceError) -> Bool {
        guard AccessPolicy.mayManageOwnThings(caller, writing: false) else { throw .unauthorized }
        return try await environment.store.reading { reader throws(StoreError) in try !reader.isMuted(caller.userID) }
    }

    /// Switches all pushes of the caller on or off; the feed stays as it is.
    ///
    /// While they are off, deliveries to the caller's devices are skipped, those that wait already too.
    package func setPushes(_ areWanted: Bool, caller: Identity) async throws(ServiceError) {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true) else { throw .unauthorized }
        let time = environment.time
        try await environment.store.writing { writer throws(StoreError) in
            .success(try writer.setMuted(!areWanted, of: caller.userID, now: time.now()))
        }
    }

    /// One browser, one row, however its subscription was written down.
    private func canonical(_ token: String, _ platform: PushPlatform) throws(ServiceError) -> String {
        guard platform == .web, let webPush = environment.webPush else { return token }
        try checks.checkText(token, field: "token", maximumBytes: environment.limits.tokenBytes)
        return try webPush.canonicalToken(token)
    }

    private func check(_ registration: Registration) throws(ServiceError) {
        let limits = environment.limits
        try checks.checkText(registration.token, field: "token", maximumBytes: limits.tokenBytes)
        try checks.checkText(registration.appID, field: "appId", maximumBytes: limits.keyBytes)
        try checks.checkText(registration.name ?? "", field: "name", maximumBytes: limits.keyBytes)
        guard registration.appID.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else {
            throw .badInput("appId must be a bundle id or project id, without spaces and control characters.")
        }
        guard !registration.token.isEmpty else { throw .badInput("token must not be empty.") }
        guard registration.token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .badInput("token must be printable ASCII without spaces, as the provider's SDK gives it.")
        }
        if registration.platform == .ios {
            let isHex = registration.token.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
            }
            guard isHex, registration.token.utf8.count.isMultiple(of: 2) else {
                throw .badInput("An ios token must be the device token in hexadecimal, two digits a byte.")
            }
        } else if registration.environment != nil {
            throw .badInput("environment is for ios only; leave it out for \(registration.platform.rawValue).")
        }
    }

    /// The row this registration continues: the one with its token, else the caller's with the id it names.
    private func previousDevice(
        _ registration: Registration,
        own: [Device],
        _ writer: any StoreWriter
    ) throws(StoreError) -> Device? {
        if let found = try writer.device(token: registration.token, appID: registration.appID) {
            return found
        }
        return own.first { $0.id == registration.deviceID && $0.platform == registration.platform }
    }
}
