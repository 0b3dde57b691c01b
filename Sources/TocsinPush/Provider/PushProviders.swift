package import TocsinCore

/// The providers of all apps of this server, and which of them reaches a device.
package struct PushProviders: Sendable, ExpressibleByArrayLiteral {
    /// One app: its providers, for each service one or one for each side of it.
    package struct App: Sendable {
        /// What devices call it; empty: the app of devices that name none.
        package var id: String
        /// Other names by which devices may mean it, such as a bundle id or a project.
        package var aliases: Set<String>
        /// The app's providers; several of one service serve different sides.
        package var providers: [any PushProvider]
        /// Services through which it also reaches devices of apps that nobody knows.
        package var adopts: Set<PushService>

        /// An app with its providers; by default without other names.
        package init(
            id: String = "",
            aliases: Set<String> = [],
            providers: [any PushProvider],
            adopts: Set<PushService> = []
        ) {
            self.id = id
            self.aliases = aliases
            self.providers = providers
            self.adopts = adopts
        }
    }

    private var byService: [PushService: [String: [any PushProvider]]] = [:]
    /// The app of each name.
    private var apps: [String: String] = [:]
    private var adopters: [PushService: String] = [:]
    /// Browsers know the server by one key, whatever their app is called.
    private let browsers: (any PushProvider)?

    /// Several apps; an id wins over an alias, and an alias of two apps means neither.
    package init(_ list: [App], browsers: (any PushProvider)? = nil) {
        self.browsers = browsers
        var claims: [String: Set<String>] = [:]
        for app in list {
            for alias in app.aliases { claims[alias, default: []].insert(app.id) }
            for service in app.adopts { adopters[service] = app.id }
            for provider in app.providers {
                byService[provider.service, default: [:]][app.id, default: []].append(provider)
            }
        }
        for (alias, ids) in claims where ids.count == 1 { apps[alias] = ids.first }
        for app in list { apps[app.id] = app.id }
    }

    /// One app, which every device is of.
    package init(_ providers: [any PushProvider]) {
        let others = providers.filter { $0.service != .webPush }
        self.init(
            [App(providers: others, adopts: Set(PushService.allCases))],
            browsers: providers.first { $0.service == .webPush }
        )
    }

    /// One app with these providers, which every device is of.
    package init(arrayLiteral providers: any PushProvider...) {
        self.init(providers)
    }

    /// Whether any app has credentials for a service.
    package func has(_ service: PushService) -> Bool {
        service == .webPush ? browsers != nil : byService[service] != nil
    }

    /// The provider of a lane.
    package subscript(_ lane: PushLane) -> (any PushProvider)? {
        if lane.service == .webPush { return browsers }
        return byService[lane.service]?[lane.app]?.first { $0.serves(lane) }
    }

    /// The lane to a device; nil when nothing can be sent to it.
    package func lane(of device: Device) -> PushLane? {
        let service = PushService(reaching: device)
        if service == .webPush { return browsers?.lane(of: device) }
        guard let app = app(of: device, service), let providers = byService[service]?[app] else { return nil }
        let asked = device.appID.isEmpty ? device : named(device)
        for provider in providers {
            guard var lane = provider.lane(of: asked), provider.serves(lane) else { continue }
            lane.app = app
            return lane
        }
        return nil
    }

    /// The device of a known app without that name: the credentials have the provider's own.
    private func named(_ device: Device) -> Device {
        guard apps[device.appID] != nil else { return device }
        var named = device
        named.appID = ""
        return named
    }

    /// Why there is no lane to a device.
    package func obstacle(to device: Device) -> DeliveryReason {
        let service = PushService(reaching: device)
        guard let ofApps = byService[service] else { return .providerNotConfigured }
        guard let app = app(of: device, service), !app.isEmpty || ofApps[app] != nil else { return .appNotConfigured }
        return ofApps[app] == nil ? .providerNotConfigured : .appNotConfigured
    }

    private func app(of device: Device, _ service: PushService) -> String? {
        if let app = apps[device.appID] { return app }
        // A token for calls names its bundle with Apple's suffix.
        if service == .apns, let app = APNsPushType.bundleID(of: device.appID).flatMap({ apps[$0] }) { return app }
        return device.appID.isEmpty ? nil : adopters[service]
    }
}
