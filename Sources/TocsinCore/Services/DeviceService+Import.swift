/// Devices from the tables of another push service.
extension DeviceService {
    /// A row of such a table, read.
    package struct Imported: Sendable {
        /// A local user's name, else a user's id.
        package var user: String
        /// Token, platform, app, name and hardware, as an app would register them.
        package var registration: Registration
        /// When the other service first had it; nil: now.
        package var registeredAt: Timestamp?

        /// A row; it is checked when it is taken.
        package init(user: String, registration: Registration, registeredAt: Timestamp? = nil) {
            self.user = user
            self.registration = registration
            self.registeredAt = registeredAt
        }
    }

    /// What became of a row.
    package enum ImportOutcome: Sendable, Hashable {
        /// The device is registered now; in a dry run it would be.
        case added
        /// The user has the device already; it stays as it is here.
        case known
        /// It was not taken, for this reason.
        case refused(String)
    }

    /// Takes rows in one transaction, each with its own outcome; webhooks hear nothing of them.
    ///
    /// What is here already stays as it is, so that a repeat changes nothing. A dry run only looks.
    package func take(_ rows: [Imported], isDry: Bool) async throws(ServiceError) -> [ImportOutcome] {
        let service = self
        guard !isDry else {
            return try await environment.store.reading(for: .server) { reader throws(StoreError) in
                var outcomes: [ImportOutcome] = []
                for row in rows { outcomes.append(try service.judged(row, reader).outcome) }
                return outcomes
            }
        }
        return try await environment.store.writing { writer throws(StoreError) in
            var outcomes: [ImportOutcome] = []
            for row in rows {
                let (outcome, device) = try service.judged(row, writer)
                outcomes.append(outcome)
                guard let device else { continue }
                try writer.save(device)
                guard !row.registration.isActive else { continue }
                let now = service.environment.changeTime()
                _ = try writer.retireDevice(device.id, reason: .deviceInactive, registeredBy: now)
            }
            let added = outcomes.count { $0 == .added }
            if added > 0 { try writer.record(service.environment.audit(importOf: added)) }
            return .success(outcomes)
        }
    }

    /// What becomes of a row, with the device that it makes.
    private func judged(
        _ row: Imported,
        _ reader: any StoreReader
    ) throws(StoreError) -> (outcome: ImportOutcome, device: Device?) {
        var registration = row.registration
        do throws(ServiceError) {
            registration.token = try canonical(registration.token, registration.platform)
            try check(registration)
        } catch {
            guard case .badInput(let reason) = error else {
                guard case .badRequest(let reason, _) = error else {
                    return (.refused("it cannot be registered."), nil)
                }
                return (.refused(reason), nil)
            }
            return (.refused(reason), nil)
        }
        if registration.platform == .ios { registration = Self.spelled(registration) }
        let user = try reader.account(named: row.user)?.id ?? UserID(row.user)
        let own = try reader.devices(of: user)
        let same = try reader.devices(token: registration.token)
        if same.contains(where: { $0.userID != user }) {
            return (.refused("its token is another user's here already, and stays with that user."), nil)
        }
        if same.contains(where: { $0.appID == registration.appID || $0.appID.isEmpty || registration.appID.isEmpty }) {
            return (.known, nil)
        }
        guard own.count < environment.limits.devicesPerUser else {
            return (.refused("its user has \(own.count) devices, which is the most that are allowed."), nil)
        }
        let now = environment.changeTime()
        let device = Device(
            id: DeviceID(environment.identifiers.makeID()),
            userID: user,
            platform: registration.platform,
            environment: registration.environment,
            appID: registration.appID,
            token: registration.token,
            name: registration.name,
            registeredAt: min(row.registeredAt ?? now, now),
            lastSeenAt: now,
            kind: registration.kind,
            hardwareID: registration.hardwareID
        )
        return (.added, device)
    }
}
