import TocsinCore

/// What a notification command of Nagios or Icinga finds in its environment.
struct MonitoringNotice {
    private let type: String
    private let host: String
    /// Empty for a notification about the host itself.
    private let service: String
    private let state: String
    private let value: (String) -> String

    /// The variables of a run, whose names begin with `prefix`.
    init(_ variables: [String: String], prefix: String) throws(CommandFailure) {
        let value = { (name: String) -> String in
            let text = trimmed(variables[prefix + name] ?? "")
            // A macro that has no value here may be handed over as it was written.
            return text.count > 1 && text.hasPrefix("$") && text.hasSuffix("$") ? "" : text
        }
        self.value = value
        type = value("NOTIFICATIONTYPE").uppercased()
        host = value("HOSTNAME").isEmpty ? value("HOSTALIAS") : value("HOSTNAME")
        service = value("SERVICEDESC").isEmpty ? value("SERVICENAME") : value("SERVICEDESC")
        state = value(service.isEmpty ? "HOSTSTATE" : "SERVICESTATE").uppercased()
        guard !type.isEmpty, !host.isEmpty else {
            throw CommandFailure(
                "There is no \(prefix)\(type.isEmpty ? "NOTIFICATIONTYPE" : "HOSTNAME") in the environment. "
                    + (prefix.isEmpty
                        ? "Set it in the env of the NotificationCommand."
                        : "Set enable_environment_macros=1 in nagios.cfg, or set the variables in the command line."),
                status: 2
            )
        }
    }

    /// The event that it is.
    var event: HostEvent {
        var event = HostEvent(action: action)
        let subject = service.isEmpty ? host : "\(host)/\(service)"
        if action != .log { event.key = String(subject.unicodeScalars.prefix(HostEvent.maximumKeyLength)) }
        event.title = title(subject)
        event.body = text
        event.priority = priority
        let labels = [("host", host), ("service", service), ("state", state), ("address", value("HOSTADDRESS"))]
        event.labels = labels.filter { !$0.1.isEmpty }.map { (name: $0.0, value: $0.1) }
        event.url = ["NOTESURL", "ACTIONURL"].map { value((service.isEmpty ? "HOST" : "SERVICE") + $0) }
            .first { $0.hasPrefix("https://") || $0.hasPrefix("http://") }
        return event
    }

    private var action: SenderEvent.Action {
        switch type {
        case "PROBLEM": .trigger
        case "RECOVERY": .resolve
        case "ACKNOWLEDGEMENT": .acknowledge
        default: .log
        }
    }

    private var priority: Int? {
        guard action != .log else { return type == "CUSTOM" ? 3 : 2 }
        guard action == .trigger else { return nil }
        return switch state {
        case "DOWN", "CRITICAL": 5
        case "UNREACHABLE", "UNKNOWN": 4
        case "WARNING": 3
        default: nil
        }
    }

    private var author: String {
        value("NOTIFICATIONAUTHOR").isEmpty ? value("NOTIFICATIONAUTHORNAME") : value("NOTIFICATIONAUTHOR")
    }

    private func title(_ subject: String) -> String {
        let by = author.isEmpty ? "" : " by \(author)"
        return switch type {
        case "PROBLEM", "RECOVERY": state.isEmpty ? "\(subject): \(type)" : "\(subject) is \(state)"
        case "ACKNOWLEDGEMENT": "\(subject): acknowledged\(by)"
        case "FLAPPINGSTART": "\(subject): flapping has begun"
        case "FLAPPINGSTOP", "FLAPPINGEND": "\(subject): flapping has ended"
        case "FLAPPINGDISABLED": "\(subject): flap detection is off"
        case "DOWNTIMESTART": "\(subject): downtime has begun"
        case "DOWNTIMEEND": "\(subject): downtime has ended"
        case "DOWNTIMECANCELLED", "DOWNTIMEREMOVED": "\(subject): downtime is cancelled"
        case "CUSTOM": "\(subject): a note\(by)"
        default: "\(subject): \(type)"
        }
    }

    /// Output, long output and comment, a paragraph each.
    ///
    /// Nagios writes the long one's line ends as `\n`.
    private var text: String {
        let kind = service.isEmpty ? "HOST" : "SERVICE"
        let comment = value("NOTIFICATIONCOMMENT")
        let said = comment.isEmpty || author.isEmpty ? comment : "\(author): \(comment)"
        let details = value("LONG\(kind)OUTPUT").replacing("\\n", with: "\n")
        return [value("\(kind)OUTPUT"), details, said].filter { !$0.isEmpty }.joined(separator: "\n")
    }
}

/// A text without spaces at its ends.
private func trimmed(_ text: String) -> String {
    let head = text.drop { $0.isWhitespace }
    return String(head.reversed().drop { $0.isWhitespace }.reversed())
}
