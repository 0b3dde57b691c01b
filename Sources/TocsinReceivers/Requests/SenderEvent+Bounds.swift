package import TocsinCore

extension SenderEvent {
    /// The longest title, in bytes.
    package static let maximumTitleBytes = 1024
    /// The longest body, in bytes.
    package static let maximumBodyBytes = 64 << 10
    /// The longest key, in characters.
    package static let maximumKeyCharacters = 512
    /// The most labels.
    package static let maximumLabels = 64
    /// The longest labels together, names counted, in bytes.
    package static let maximumLabelBytes = 8 << 10
    /// The most members of `data`.
    package static let maximumDataMembers = 64
    /// The longest `data` together, names counted, in bytes.
    package static let maximumDataBytes = 16 << 10
    /// The most links.
    package static let maximumLinks = 10
    /// The most alerts of a group that are told one by one.
    package static let maximumAlerts = 1000

    /// The event as it may be stored: texts clean and cut, a title in any case, addresses that are
    /// some.
    package func bounded(in context: ReceiverContext) -> SenderEvent {
        var event = self
        event.body = body.withoutControls.cut(toBytes: Self.maximumBodyBytes, mark: "…")
        event.title = Self.line(title)
        if event.title.isEmpty { event.title = Self.line(event.body.firstLine) }
        // What ends or takes on an incident has no need of words: those of the incident stay.
        if event.title.isEmpty, [.trigger, .log].contains(action) { event.title = Self.line(context.integration.name) }
        event.key = key.flatMap { $0.isEmpty ? nil : Self.short($0, Self.maximumKeyCharacters, context) }
        event.messageKey = messageKey.flatMap { $0.isEmpty ? nil : Self.short($0, 256, context) }
        event.collapseKey = collapseKey.flatMap { $0.isEmpty ? nil : Self.short($0, 256, context) }
        event.priority = priority.map { min(max($0, 1), 5) }
        event.url = SenderURL.checked(url)
        event.image = SenderURL.secure(image)
        event.category = category.map { $0.withoutControls.cut(toBytes: 256) }.flatMap { $0.isEmpty ? nil : $0 }
        event.labels = Self.bounded(labels, count: Self.maximumLabels, bytes: Self.maximumLabelBytes)
        event.data = Self.bounded(sendable(data), count: Self.maximumDataMembers, bytes: Self.maximumDataBytes)
        event.links = boundedLinks
        event.buttons = Array(buttons.prefix(3)).map(Self.bounded)
        event.truncatedAlerts = min(max(0, truncatedAlerts), 1_000_000) + max(0, alerts.count - Self.maximumAlerts)
        event.alerts = alerts.prefix(Self.maximumAlerts).map { Self.bounded($0, context) }
        return event
    }

    private var boundedLinks: [Link] {
        var (seen, result): (Set<String>, [Link]) = ([], [])
        for link in links where result.count < Self.maximumLinks {
            guard let url = SenderURL.checked(link.url), seen.insert(url).inserted else { continue }
            let text = link.text.withoutControls.onOneLine.cut(toBytes: 256, mark: "…")
            result.append(Link(text: text.isEmpty ? url : text, url: url))
        }
        return result
    }

    /// Firebase keeps some names for itself: they get another.
    private func sendable(_ data: [String: String]) -> [String: String] {
        guard data.keys.contains(where: PushDataKeys.isReserved) else { return data }
        return data.reduce(into: [:]) { result, member in
            result[PushDataKeys.isReserved(member.key) ? "sender_" + member.key : member.key] = member.value
        }
    }

    private static func line(_ text: String) -> String {
        text.withoutControls.onOneLine.cut(toBytes: maximumTitleBytes)
    }

    /// A key that is too long has its hash in place of its end, so that two stay two.
    private static func short(_ key: String, _ maximum: Int, _ context: ReceiverContext) -> String {
        // A NUL is no character of PostgreSQL's texts.
        let key = key.utf8.contains(0) ? String(key.unicodeScalars.filter { $0 != "\0" }.map(Character.init)) : key
        let isShort = maximum == 256 ? key.utf8.count <= maximum : key.unicodeScalars.count <= maximum
        guard !isShort else { return key }
        return key.cut(toBytes: maximum - 65) + "-" + HexText.text(of: context.sha256(Array(key.utf8)))
    }

    private static func bounded(_ texts: [String: String], count: Int, bytes: Int) -> [String: String] {
        var (room, result) = (bytes, [String: String]())
        for (name, value) in texts.sorted(by: { $0.key < $1.key }) where result.count < count {
            let name = name.withoutControls.cut(toBytes: 256)
            let value = value.withoutControls.cut(toBytes: 4096, mark: "…")
            let size = name.utf8.count + value.utf8.count
            guard !name.isEmpty, size <= room else { continue }
            room -= size
            result[name] = value
        }
        return result
    }

    private static func bounded(_ button: Button) -> Button {
        var button = button
        button.title = button.title.withoutControls.onOneLine.cut(toBytes: 128, mark: "…")
        return button
    }

    private static func bounded(_ alert: Alert, _ context: ReceiverContext) -> Alert {
        var alert = alert
        alert.fingerprint = short(alert.fingerprint, 256, context)
        alert.title = line(alert.title)
        alert.labels = bounded(alert.labels, count: maximumLabels, bytes: maximumLabelBytes)
        alert.url = SenderURL.checked(alert.url)
        return alert
    }
}
