/// Registers and unregisters the tokens of people's devices.
package struct DeviceService: Sendable {
    let environment: ServiceEnvironment
    private let checks: InputChecks
    /// The claims that are noted of who registers, to judge their pushes by.
    private let notedClaims: Set<String>
    /// Shares topics with groups that tokens name; nil: nobody joins them by registering.
    private let sharing: SharingService?

    /// A service that notes of people who register a device what their pushes are judged by.
    package init(environment: ServiceEnvironment, sharing: SharingService? = nil) {
        self.environment = environment
        self.sharing = sharing
        notedClaims = sharing?.rights.notedClaims ?? []
        checks = InputChecks(limits: environment.limits)
    }

    /// What a client says of its device.
    package struct Registration: Sendable, Hashable {
        /// The provider's token as the client gave it; browsers give their subscription as JSON.
        package var token: String
        /// What kind of name `token` is.
        package var kind: PushTokenKind
        /// Which kind of provider reaches the device.
        package var platform: PushPlatform
        /// Apple's side, where the client said it; nil: learnt from the provider.
        package var environment: PushEnvironment?
        /// The bundle id or project, where the client said it; empty: the server's default app.
        package var appID: String
        /// The id the client got before; its row is kept when only the token changed.
        package var deviceID: DeviceID?
        /// What its owner calls the device; nil: nothing.
        package var name: String?
        /// The hardware's own id; nil: the one that is known stays.
        package var hardwareID: String?
        /// Whether pushes are to go to the device.
        package var isActive = true
        /// Whether pushes to the device are to end with the token that registers it.
        package var isBound = false
        /// Who says that the device is theirs; nil: nobody.
        package var proof: RegistrationProofInput?

        /// A registration as a client sends it; it is checked by `register`.
        package init(
            token: String,
            platform: PushPlatform,
            environment: PushEnvironment? = nil,
            appID: String = "",
            deviceID: DeviceID? = nil,
            name: String? = nil,
            kind: PushTokenKind = .token
        ) {
            self.token = token
            self.kind = kind
            self.platform = platform
            self.environment = environment
            self.appID = appID
            self.deviceID = deviceID
            self.name = name
        }

        /// Whether Firebase gave an iPhone its name, and so carries its pushes.
        fileprivate var isForFirebase: Bool { platform == .ios && (kind == .fid || Device.isFirebaseToken(token)) }
    }

    /// Registers a token for the caller.
    ///
    /// Repeating it changes nothing, and a retired device is active again. A token that another
    /// user had moves to the caller; in the same transaction the other user's waiting pushes to it
    /// end.
    ///
    /// Answers the device and all the caller's devices.
    package func register(
        _ registration: Registration,
        caller: Identity
    ) async throws(ServiceError) -> (device: Device, all: [Device]) {
        guard AccessPolicy.mayManageOwnThings(caller, .ofDevices, writing: true) else { throw .unauthorized }
        let proven = try proven(registration, caller: caller)
        var registration = registration
        registration.token = try canonical(registration.token, registration.platform)
        // Apps write an empty text where the hardware says nothing.
        if registration.hardwareID?.isEmpty == true { registration.hardwareID = nil }
        try check(registration)
        if registration.platform == .ios { registration = Self.spelled(registration) }
        let (environment, wanted, notedClaims) = (environment, registration, notedClaims)
        let written = try await environment.writing(within: .devices) {
            writer throws(StoreError) -> Result<Registered?, ServiceError> in
            // A sign-in is locked before devices, as where it is revoked.
            let bound = try bound(wanted, caller, writer)
            guard case .success(let binding) = bound else { return bound.map { _ in nil } }
            // Never earlier than a message's time before it, nor later than that of one after it.
            let now = environment.changeTime()
            let all = try writer.devices(of: caller.userID)
            let (previous, others) = try predecessors(wanted, of: caller.userID, own: all, writer)
            guard previous?.userID == caller.userID || all.count < environment.limits.devicesPerUser else {
                return .failure(
                    .limit("A user may have at most \(environment.limits.devicesPerUser) devices; remove one first.")
                )
            }
            let own = previous.flatMap { $0.userID == caller.userID ? $0 : nil }
            guard proven != nil || !needsProof(wanted, continuing: own) else {
                return .failure(RegistrationProofs.missing)
            }
            guard try !isFull(proven, continuing: own, writer) else { return .failure(RegistrationProofs.full) }
            // The first write: nothing is refused after it.
            if let proven, try !writer.useNonce(proven.nonce, until: proven.expiresAt) {
                return .success(own.flatMap { $0.isProven(by: proven, for: wanted) ? ($0, all, nil) : nil })
            }
            let replaced = others + [own == nil ? previous : nil].compactMap(\.self)
            for device in replaced { try remove(device, .tokenMoved, now: now, writer) }
            var device = device(wanted, of: caller.userID, continuing: own, now: now)
                .proven(by: proven, wanted, continuing: own, now: now)
            device.binding = binding
            try writer.save(device)
            if !wanted.isActive { try retire(&device, now: now, writer) }
            if let facts = UserFacts(of: caller, naming: notedClaims, at: now) { try writer.save(facts) }
            if device.isActive, own?.isActive != true || own?.token != device.token {
                try environment.raise(.registered(device), writer)
            }
            for event in environment.audit(registrationOf: device, after: own, replacing: replaced, by: caller) {
                try writer.record(event)
            }
            let current = try writer.devices(of: caller.userID)
            let event = Self.event(of: device, after: own)
            return .success((current.first { $0.id == device.id } ?? device, current, event))
        }
        guard let written else { throw refusalOfReuse(by: caller) }
        if let event = written.event { environment.metrics.note(event) }
        // From now on something is known of people of a sign-in provider. Where it fails they join
        // when they are next seen.
        if let sharing, let facts = UserFacts(of: caller, naming: notedClaims, at: environment.time.now()) {
            try? await sharing.welcome(facts)
        }
        return (written.device, written.all)
    }

    /// What a registration answers, and what became of the device by it.
    private typealias Registered = (device: Device, all: [Device], event: CommitMetrics.DeviceEvent?)

    private static func event(of device: Device, after own: Device?) -> CommitMetrics.DeviceEvent? {
        guard let own else { return .registered }
        return device.isActive && !own.isActive ? .revived : nil
    }

    /// What a device is bound to that this caller registers; nil where nothing asks for that.
    private func bound(
        _ wanted: Registration,
        _ caller: Identity,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Result<Device.Binding?, ServiceError> {
        guard wanted.isBound || environment.bindsDevices else { return .success(nil) }
        if let id = caller.tokenID, let token = try writer.token(id) {
            guard token.revokedAt == nil else {
                return .failure(.badInput("This sign-in was revoked. Sign in again, and register the device then."))
            }
            return .success(.token(id))
        }
        if let id = caller.tokenID, let session = try writer.session(id) {
            guard session.endedAt == nil else {
                return .failure(.badInput("This session was ended. Sign in again, and register the device then."))
            }
            return .success(.token(id))
        }
        guard let end = caller.expiresAt else {
            return .failure(.badInput("This sign-in has no end that a device could be bound to."))
        }
        return .success(.end(end))
    }

    /// The row of a registration; `own` is the caller's row that it continues.
    private func device(
        _ wanted: Registration,
        of user: UserID,
        continuing own: Device?,
        now: Timestamp
    ) -> Device {
        Device(
            id: own?.id ?? DeviceID(environment.identifiers.makeID()),
            userID: user,
            platform: wanted.platform,
            environment: wanted.environment ?? Self.knownEnvironment(own, wanted),
            appID: wanted.appID,
            token: wanted.token,
            name: wanted.name ?? own?.name,
            registeredAt: now,
            lastSeenAt: now,
            kind: wanted.kind,
            hardwareID: wanted.hardwareID ?? own?.hardwareID
        )
    }

    /// Keeps a device that is to get no pushes; those that wait end.
    private func retire(_ device: inout Device, now: Timestamp, _ writer: any StoreWriter) throws(StoreError) {
        let reason = DeliveryReason.deviceInactive
        _ = try writer.retireDevice(device.id, reason: reason, registeredBy: now)
        try writer.endDeliveries(of: device.id, reason: reason, now: now)
        writer.note(.deviceEnded(device.id, reason: reason))
        (device.isActive, device.disabledReason) = (false, reason)
    }

    private func remove(
        _ device: Device,
        _ reason: DeliveryReason,
        now: Timestamp,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        try writer.endDeliveries(of: device.id, reason: reason, now: now)
        try writer.removeDevice(device.id, reason: reason)
        try environment.raise(.unregistered(device, reason: reason), writer)
    }

    /// Removes the caller's devices with this token, and the one with this id; their
    /// waiting pushes end at once.
    ///
    /// Unknown tokens and ids change nothing.
    package func unregister(
        token: String,
        deviceID: DeviceID? = nil,
        caller: Identity
    ) async throws(ServiceError) -> [Device] {
        guard AccessPolicy.mayManageOwnThings(caller, .ofDevices, writing: true) else { throw .unauthorized }
        try checks.checkText(token, field: "token", maximumBytes: environment.limits.tokenBytes)
        let environment = environment
        let spellings = Set([token, token.lowercased(), environment.canonicalToken(token)])
        return try await environment.store.writing { writer throws(StoreError) in
            for device in try writer.devices(of: caller.userID)
            where spellings.contains(device.token) || device.id == deviceID {
                try remove(device, .unregistered, now: environment.time.now(), writer)
                try writer.record(environment.audit(endOf: device, by: .caller(caller), reason: .unregistered))
            }
            return .success(try writer.devices(of: caller.userID))
        }
    }

    /// The key that browsers subscribe with; nil when Web Push is not set up.
    package var webPushKey: String? { environment.webPush?.applicationServerKey }

    /// The caller's devices; with an address those that were registered with its proof.
    package func devices(address: String? = nil, caller: Identity) async throws(ServiceError) -> [Device] {
        guard AccessPolicy.mayManageOwnThings(caller, writing: false) else { throw .unauthorized }
        let address = try address.map(environment.canonicalAddress)
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.devices(of: caller.userID).filter { address == nil || $0.address == address }
        }
    }

    /// Whether the caller wants pushes.
    package func wantsPushes(caller: Identity) async throws(ServiceError) -> Bool {
        guard AccessPolicy.mayManageOwnThings(caller, writing: false) else { throw .unauthorized }
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try !reader.isMuted(caller.userID)
        }
    }

    /// Switches all pushes of the caller on or off; the feed stays as it is.
    ///
    /// While they are off, deliveries to the caller's devices are skipped,
    /// those that wait already too.
    package func setPushes(_ areWanted: Bool, caller: Identity) async throws(ServiceError) {
        guard AccessPolicy.mayManageOwnThings(caller, .ofDevices, writing: true) else { throw .unauthorized }
        let time = environment.time
        try await environment.store.writing { writer throws(StoreError) in
            .success(try writer.setMuted(!areWanted, of: caller.userID, now: time.now()))
        }
    }

    /// One browser, one row, however its subscription was written down.
    func canonical(_ token: String, _ platform: PushPlatform) throws(ServiceError) -> String {
        guard platform == .web, let webPush = environment.webPush else { return token }
        try checks.checkText(token, field: "token", maximumBytes: environment.limits.tokenBytes)
        return try webPush.canonicalToken(token)
    }

    /// An iPhone's registration in its one spelling.
    ///
    /// Hexadecimal is only a spelling of bytes: one phone, one row. Firebase's names are taken
    /// as they are, and Firebase itself knows Apple's side of them.
    static func spelled(_ registration: Registration) -> Registration {
        var registration = registration
        if registration.isForFirebase {
            registration.environment = nil
        } else {
            registration.token = registration.token.lowercased()
        }
        return registration
    }

    func check(_ registration: Registration) throws(ServiceError) {
        let limits = environment.limits
        try checks.checkText(registration.token, field: "token", maximumBytes: limits.tokenBytes)
        try checks.checkText(registration.appID, field: "appId", maximumBytes: limits.keyBytes)
        try checks.checkText(registration.name ?? "", field: "name", maximumBytes: limits.keyBytes)
        try checks.checkText(registration.hardwareID ?? "", field: "hardwareId", maximumBytes: limits.keyBytes)
        guard registration.appID.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else {
            throw .badInput("appId must be a bundle id or project id, without spaces and control characters.")
        }
        guard !registration.token.isEmpty else { throw .badInput("token must not be empty.") }
        guard registration.token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .badInput("token must be printable ASCII without spaces, as the provider's SDK gives it.")
        }
        if registration.kind == .fid { try checkInstallation(registration) }
        if registration.platform == .ios {
            guard registration.isForFirebase || Device.isAppleToken(registration.token) else {
                throw .badInput(
                    "An ios token must be the device token in hexadecimal, two digits a byte, or Firebase's "
                        + "registration token, which has a colon. An installation id needs kind fid."
                )
            }
        } else if registration.environment != nil {
            throw .badInput("environment is for ios only; leave it out for \(registration.platform.rawValue).")
        }
    }

    private func checkInstallation(_ registration: Registration) throws(ServiceError) {
        guard registration.platform != .web else {
            throw .badInput("A Firebase installation id is for android and ios; for web give the token.")
        }
        let isPlain = registration.token.utf8.allSatisfy { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "/") }
        guard isPlain, registration.token.utf8.count <= 64 else {
            throw .badInput(
                "token is no Firebase installation id, which has no colon; register tokens with kind token."
            )
        }
    }

    /// The row this registration continues, and the other rows of the same phone, which it
    /// replaces.
    ///
    /// It continues the row with its token, else the caller's row with the id it names, else the
    /// caller's row of the same installation.
    private func predecessors(
        _ registration: Registration,
        of user: UserID,
        own: [Device],
        _ writer: any StoreWriter
    ) throws(StoreError) -> (previous: Device?, others: [Device]) {
        let (exact, aliases) = try sameToken(registration, of: user, writer)
        var others = try aliases + sameInstallation(registration, writer)
        let previous =
            exact ?? own.first { $0.id == registration.deviceID && $0.platform == registration.platform }
            ?? others.first { $0.userID == user }
        others.removeAll { $0.id == previous?.id }
        return (previous, others)
    }

    /// The row with this token and app, and those with the token under other app names that count
    /// as the same phone.
    ///
    /// Somebody else's rows always count, for a phone belongs to one person. The user's own count
    /// where one of the app names is missing, for then it may be the same app.
    private func sameToken(
        _ registration: Registration,
        of user: UserID,
        _ writer: any StoreWriter
    ) throws(StoreError) -> (exact: Device?, aliases: [Device]) {
        let found = try writer.devices(token: registration.token)
        let aliases = found.filter { device in
            guard device.appID != registration.appID else { return false }
            return device.userID != user || device.appID.isEmpty || registration.appID.isEmpty
        }
        return (found.first { $0.appID == registration.appID }, aliases)
    }

    /// Rows that name the same installation of an app in the other way: a registration token begins
    /// with the installation's id and a colon.
    private func sameInstallation(
        _ registration: Registration,
        _ writer: any StoreWriter
    ) throws(StoreError) -> [Device] {
        guard registration.platform == .android || registration.isForFirebase else { return [] }
        var found: [Device] = []
        switch registration.kind {
        case .fid: found = try writer.devices(tokenBeginningWith: registration.token)
        case .token:
            guard let colon = registration.token.firstIndex(of: ":") else { return [] }
            found = try writer.devices(token: String(registration.token[..<colon]))
        }
        return found.filter {
            $0.appID == registration.appID && $0.platform != .web && $0.kind != registration.kind
        }
    }

    /// The side that was given, or learnt, for the same token before.
    private static func knownEnvironment(_ previous: Device?, _ registration: Registration) -> PushEnvironment? {
        previous?.token == registration.token ? previous?.environment : nil
    }
}
