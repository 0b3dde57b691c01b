/// What people want of their own pushes: when it is quiet, and what becomes of what comes then.
package struct UserSettingsService: Sendable {
    private let environment: ServiceEnvironment
    private static let maximumHours = 50
    private static let maximumMinutes = 30 * 24 * 60

    /// A service over one store.
    package init(environment: ServiceEnvironment) { self.environment = environment }

    /// The caller's settings.
    package func settings(caller: Identity) async throws(ServiceError) -> UserSettings {
        guard AccessPolicy.mayManageOwnThings(caller, writing: false) else { throw .unauthorized }
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.userSettings(of: [caller.userID])[caller.userID] ?? UserSettings(userID: caller.userID)
        }
    }

    /// Changes the caller's settings, once they have been checked; one change at a time.
    ///
    /// What is held is looked at again: a quiet that ends earlier lets it go earlier.
    package func change(
        caller: Identity,
        _ change: @escaping @Sendable (inout UserSettings) -> Void
    ) async throws(ServiceError) -> UserSettings {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true) else { throw .unauthorized }
        let (environment, service) = (environment, self)
        return try await environment.store.writing { writer throws(StoreError) in
            let user = caller.userID
            var settings = try writer.userSettings(of: [user])[user] ?? UserSettings(userID: user)
            change(&settings)
            let zone: ZoneRules
            do throws(ServiceError) {
                zone = try service.checkedZone(settings)
            } catch {
                return .failure(error)
            }
            try writer.save(settings)
            if let timer = try writer.timer(.quietEnd, of: user.text) {
                let now = environment.time.now()
                var next = timer
                next.dueAt = settings.quietEnd(at: now, in: zone) ?? now
                next.generation += 1
                try writer.set(next)
            }
            return .success(settings)
        }
    }

    /// It is quiet for so many minutes or until a moment, whatever the hours; 0 minutes end that.
    package func doNotDisturb(
        minutes: Int?,
        until: Timestamp?,
        caller: Identity
    ) async throws(ServiceError) -> UserSettings {
        guard (minutes == nil) != (until == nil) else { throw .badInput("Write either minutes or until.") }
        let now = environment.time.now()
        if let minutes, !(0...Self.maximumMinutes).contains(minutes) {
            throw .badInput("minutes must be 0 to \(Self.maximumMinutes); it is \(minutes).")
        }
        let end = until ?? now.adding(seconds: Double(minutes ?? 0) * 60)
        guard end <= now.adding(seconds: Double(Self.maximumMinutes) * 60) else {
            throw .badInput("until must be at most 30 days ahead; it is \(end.iso8601).")
        }
        return try await change(caller: caller) { $0.doNotDisturbUntil = end > now ? end : nil }
    }

    private func checkedZone(_ settings: UserSettings) throws(ServiceError) -> ZoneRules {
        guard settings.quietHours.count <= Self.maximumHours else {
            throw .badInput(
                "quietHours has \(settings.quietHours.count) entries; at most \(Self.maximumHours) are allowed."
            )
        }
        guard settings.quietHours.allSatisfy({ !$0.days.isEmpty }) else {
            throw .badInput("quietHours must name days, such as [MO, TU], in each entry.")
        }
        guard (1...5).contains(settings.quietBreakThrough) else {
            throw .badInput("quietBreakThrough must be 1 to 5, a priority; it is \(settings.quietBreakThrough).")
        }
        guard (0...50).contains(settings.maxSingles) else {
            throw .badInput("maxSingles must be 0 to 50; it is \(settings.maxSingles).")
        }
        let zone = try environment.zones.zone(ofInput: settings.timeZone, field: "timeZone")
        try checkGap(settings, in: zone)
        return zone
    }

    /// What is held must go out some day.
    private func checkGap(_ settings: UserSettings, in zone: ZoneRules) throws(ServiceError) {
        guard settings.quietMode == .hold else { return }
        var hours = settings
        hours.doNotDisturbUntil = nil
        let now = environment.time.now()
        guard let end = hours.quietEnd(at: now, in: zone), end >= now.adding(seconds: 7 * 86_400) else { return }
        throw .badInput(
            "quietHours leave no time of the week at which pushes could go out. Leave a gap, or set quietMode to FEED."
        )
    }
}
