/// What the audit says of devices: which platform and app, and never their tokens.
extension ServiceEnvironment {
    /// The end of a device, or of pushes to it.
    package func audit(endOf device: Device, by actor: AuditActor, reason: DeliveryReason) -> AuditEvent {
        var detail = Self.detail(of: device)
        detail["reason"] = .text(reason.rawValue)
        return audit(action: "device.end", by: actor, on: .device(device.id, of: device.userID), detail: detail)
    }

    /// The return of a device that was ended by mistake.
    package func audit(returnOf device: Device) -> AuditEvent {
        var detail = Self.detail(of: device)
        detail["returned"] = true
        return audit(action: "device.register", by: .server, on: .device(device.id, of: device.userID), detail: detail)
    }

    /// A registration, if it changed more than a time.
    ///
    /// `own` is the row that it continues, `replaced` the rows of the same phone, which are gone.
    func audit(
        registrationOf device: Device,
        after own: Device?,
        replacing replaced: [Device],
        by caller: Identity
    ) -> [AuditEvent] {
        let subject = AuditSubject.device(device.id, of: device.userID)
        var events: [AuditEvent] = []
        for old in replaced where old.userID != device.userID {
            var detail = Self.detail(of: device)
            detail["before"] = .text(old.id.text)
            events.append(audit(action: "device.move", by: caller, on: subject, about: old.userID, detail: detail))
        }
        for old in replaced where old.userID == device.userID {
            events.append(audit(endOf: old, by: .caller(caller), reason: .tokenMoved))
        }
        let isMoved = replaced.contains { $0.userID != device.userID }
        if device.isActive, own?.isActive != true || own?.token != device.token, !isMoved {
            events.append(audit(action: "device.register", by: caller, on: subject, detail: Self.detail(of: device)))
        }
        if !device.isActive, own?.isActive != false {
            events.append(audit(endOf: device, by: .caller(caller), reason: .deviceInactive))
        }
        return events
    }

    /// Devices that were taken from another push service in one transaction.
    func audit(importOf count: Int) -> AuditEvent {
        audit(
            action: "device.register",
            by: .operator,
            on: .server("import"),
            detail: ["count": .int(Int64(count))]
        )
    }

    private static func detail(of device: Device) -> AuditDetail {
        ["platform": .text(device.platform.rawValue), "app": device.appID.isEmpty ? nil : .text(device.appID)]
    }
}
