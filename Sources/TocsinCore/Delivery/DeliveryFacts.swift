/// What is known of a message and a user, from which the gates between them are judged.
package struct DeliveryFacts: Sendable {
    /// The message that was asked about.
    package var message: Record
    /// Its topic; nil when it was deleted.
    package var topic: Record?
    /// The user who was asked about.
    package var userID: UserID
    /// The user's membership of the topic; nil: not a member.
    package var membership: Membership?
    /// Whether the user has switched all pushes off.
    package var isMuted: Bool
    /// Whether the user may have the message's push by their account and the rules of
    /// reading, as they are now.
    package var mayReceive = true
    /// The incident that the message is about, as it stands; nil: it is about none.
    package var incident: Incident?
    /// Whether the message was never meant for the user, of whom nothing is told then.
    package var isStranger: Bool
    /// All devices of the user, active or not.
    package var devices: [Device]
    /// The user's rows in the ledger for this message.
    package var deliveries: [Delivery]
    /// Whether the message is still on its way to devices.
    package var isFanningOut: Bool
    /// The moment that the facts are judged at.
    package var now: Timestamp
    /// What the outbox of this node knows; nil where none runs.
    package var forecast: (any PushForecast)?

    /// What is known of the incident that a message is about.
    package struct Incident: Sendable {
        /// Loud messages up to this number of the topic ring no more.
        package var answeredNumber: MessageNumber
        /// Whether a push of it has reached one of the user's devices, or is on its way.
        package var hasReached: Bool
        /// Who has acknowledged it, or came to it.
        package var responders: [UserID]

        /// An incident that stands so.
        package init(answeredNumber: MessageNumber, hasReached: Bool, responders: [UserID] = []) {
            (self.answeredNumber, self.hasReached, self.responders) = (answeredNumber, hasReached, responders)
        }
    }

    /// Facts as one snapshot of the store gave them.
    package init(
        message: Record,
        topic: Record?,
        userID: UserID,
        membership: Membership? = nil,
        isMuted: Bool = false,
        isStranger: Bool = false,
        devices: [Device] = [],
        deliveries: [Delivery] = [],
        isFanningOut: Bool = false,
        now: Timestamp,
        forecast: (any PushForecast)? = nil
    ) {
        self.message = message
        self.topic = topic
        self.userID = userID
        self.membership = membership
        self.isMuted = isMuted
        self.isStranger = isStranger
        self.devices = devices
        self.deliveries = deliveries
        self.isFanningOut = isFanningOut
        self.now = now
        self.forecast = forecast
    }

    /// All gates in the order in which a push meets them.
    package func explanation() -> DeliveryExplanation {
        guard !isStranger else {
            return DeliveryExplanation(
                messageID: MessageID(message.id),
                userID: userID,
                gates: [messageGate, membershipGate ?? addressGate],
                deliveries: []
            )
        }
        let gates = [
            messageGate, membershipGate, accessGate, incidentGate, topicPushGate, notificationsGate, expiryGate,
            devicesGate,
        ]
        let entries = deliveries.map { delivery in
            DeliveryService.Entry(delivery: delivery, device: devices.first { $0.id == delivery.deviceID })
        }
        return DeliveryExplanation(
            messageID: MessageID(message.id),
            userID: userID,
            gates: gates.compactMap(\.self) + devices.flatMap(gates(of:)),
            deliveries: entries
        )
    }

    private typealias Gate = DeliveryExplanation.Gate

    /// By the server's clock.
    private var committedAt: Timestamp { Timestamp(milliseconds: message["_lastChangedAt"].int ?? 0) }
    private var topicName: String { topic?["name"].text ?? message["topicId"].text ?? "" }

    private var messageGate: Gate {
        if message.isDeleted {
            return Gate(name: .message, passed: false, sentence: "The message was deleted; it is not sent any more.")
        }
        guard let topic, !topic.isDeleted else {
            return Gate(
                name: .message,
                passed: false,
                sentence: "The message's topic was deleted; nothing of it is sent."
            )
        }
        let number = message["number"].int.map { "number \($0)" } ?? "a message"
        let sentence = "The message is \(number) of the topic \(topicName), stored at \(committedAt.iso8601)."
        return Gate(name: .message, passed: true, sentence: sentence)
    }

    private var membershipGate: Gate? {
        if DirectPushService.isTopic(message["topicId"].text ?? "") { return nil }
        guard let membership else {
            return Gate(
                name: .membership,
                passed: false,
                sentence: "The user is not a member of the topic.",
                advice: "Call subscribeToTopic as this user; later messages are pushed then."
            )
        }
        let since = membership.createdAt.iso8601
        guard membership.createdAt <= committedAt else {
            return Gate(
                name: .membership,
                passed: false,
                sentence: "The user became a member at \(since), after the message.",
                advice: "Nothing: older messages are in the feed, later ones are pushed."
            )
        }
        return Gate(name: .membership, passed: true, sentence: "The user has been a member since \(since).")
    }

    /// The gate of a direct push, which goes to the users and devices it names.
    private var addressGate: Gate {
        Gate(name: .membership, passed: false, sentence: "The push was not addressed to this user.")
    }

    private var accessGate: Gate? {
        guard !mayReceive else { return nil }
        return Gate(
            name: .access,
            passed: false,
            sentence: "The user may not read the message now, or their account is disabled "
                + "(\(DeliveryReason.accessEnded.rawValue)).",
            advice: "Give the access back: later messages are pushed then."
        )
    }

    /// The gate of a message about an incident.
    ///
    /// What asks for somebody ends when it is answered. What tells of a change goes where the
    /// incident is on the screen.
    private var incidentGate: Gate? {
        guard let incident, let change = message["incidentChange"].text.flatMap(IncidentChange.init) else { return nil }
        guard change.isLoud else {
            guard !isOvertaken(incident) else {
                return Gate(
                    name: .incident,
                    passed: false,
                    sentence: "A later change of the incident has taken its place "
                        + "(\(DeliveryReason.incidentAnswered.rawValue))."
                )
            }
            guard !incident.hasReached else {
                return Gate(name: .incident, passed: true, sentence: "It takes the place of the incident's last push.")
            }
            return Gate(
                name: .incident,
                passed: false,
                sentence: "No push of the incident has reached the user, so there is nothing to take the place of "
                    + "(\(DeliveryReason.incidentUnseen.rawValue)).",
                advice: "Nothing: what asks for somebody goes to all members."
            )
        }
        guard (message["number"].int ?? 0) < incident.answeredNumber else {
            let isOthers = change == .raised && !incident.responders.isEmpty && !incident.responders.contains(userID)
            let sentence =
                isOthers
                ? "Others have acknowledged the incident: it rings for them, and is shown here without a sound "
                    + "unless none of them can be reached."
                : "The incident asks for somebody."
            return Gate(name: .incident, passed: true, sentence: sentence)
        }
        let wasSent = deliveries.contains { $0.status == .accepted }
        let sentence =
            wasSent
            ? "It was sent before somebody answered the incident."
            : "Somebody has answered the incident, or a later change asks anew, so this is not sent any more "
                + "(\(DeliveryReason.incidentAnswered.rawValue))."
        return Gate(name: .incident, passed: wasSent, sentence: sentence)
    }

    /// Whether what a quiet message says was over before it was sent.
    private func isOvertaken(_ incident: Incident) -> Bool {
        (message["number"].int ?? 0) < incident.answeredNumber
            && !deliveries.contains { $0.status == .accepted || $0.reason == .incidentUnseen }
    }

    private var topicPushGate: Gate? {
        guard let membership else { return nil }
        guard !membership.push else {
            if let gate = wishGate(membership) { return gate }
            return Gate(name: .topicPush, passed: true, sentence: "The user wants pushes of this topic.")
        }
        return Gate(
            name: .topicPush,
            passed: false,
            sentence: "The user has muted the topic (\(DeliveryReason.topicMuted.rawValue)).",
            advice: "Call subscribeToTopic(push: true) as this user."
        )
    }

    /// What the member wants in place of each push.
    private func wishGate(_ membership: Membership) -> Gate? {
        guard case .leaveOut(let reason)? = membership.wish(about: message["priority"].int ?? 3) else { return nil }
        let sentence =
            switch membership.delivery {
            case .feed: "The user reads the topic in the feed alone"
            case .digest: "The user's digest tells of the topic"
            case .now: "The user wants pushes of priority \(membership.minPriority) and above"
            }
        return Gate(
            name: .topicPush,
            passed: false,
            sentence: sentence + " (\(reason.rawValue)).",
            advice: "Call subscribeToTopic(delivery: NOW, minPriority: 1) as this user."
        )
    }

    private var notificationsGate: Gate {
        guard isMuted else {
            return Gate(name: .notifications, passed: true, sentence: "The user's notifications are on.")
        }
        return Gate(
            name: .notifications,
            passed: false,
            sentence: "The user has switched all pushes off (\(DeliveryReason.notificationsOff.rawValue)).",
            advice: "Call setNotifications(enabled: true) as this user."
        )
    }

    private var expiryGate: Gate? {
        guard let deadline = forecast?.deadline(of: message) else { return nil }
        let moment = deadline.iso8601
        guard deadline <= now else {
            return Gate(name: .expiry, passed: true, sentence: "It is pushed until \(moment).")
        }
        let isDone = !deliveries.isEmpty && deliveries.allSatisfy { $0.status == .accepted }
        return Gate(
            name: .expiry,
            passed: isDone,
            sentence: isDone ? "It was sent in time; it expired at \(moment)." : "It expired at \(moment).",
            advice: isDone ? nil : "Publish it anew, or with a later expiresAt."
        )
    }

    private var devicesGate: Gate {
        let active = devices.count { $0.isActive }
        guard devices.isEmpty else {
            return Gate(
                name: .devices,
                passed: active > 0,
                sentence: "The user has \(devices.count) devices, \(active) of them active."
            )
        }
        return Gate(
            name: .devices,
            passed: false,
            sentence: "The user has no device (\(DeliveryReason.noDevice.rawValue)).",
            advice: "Sign in on a phone and let the app call registerPushToken."
        )
    }
}
