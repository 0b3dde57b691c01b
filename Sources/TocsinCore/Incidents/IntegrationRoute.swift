/// Where events with some labels go, in place of their integration's own topic and priority.
package struct IntegrationRoute: Sendable, Equatable {
    /// What one label must be.
    package struct Matcher: Sendable, Equatable {
        /// How a label is compared.
        package enum Comparison: String, Sendable, CaseIterable {
            /// The label is this text; a label that is missing is the empty text.
            case equals = "="
            /// The label is another text, or is missing.
            case differs = "!="
            /// The label is there and has this pattern, in which `*` stands for any text.
            case resembles = "=*"
        }

        /// The label's name.
        package var label: String
        /// How it is compared.
        package var comparison: Comparison
        /// With what.
        package var text: String

        /// A matcher of these parts.
        package init(_ label: String, _ comparison: Comparison, _ text: String) {
            (self.label, self.comparison, self.text) = (label, comparison, text)
        }

        /// Labels that are longer have no pattern.
        package static let maximumTextBytes = 256

        func matches(_ labels: [String: String]) -> Bool {
            switch comparison {
            // By bytes, as patterns go.
            case .equals: return labels[label, default: ""].utf8.elementsEqual(text.utf8)
            case .differs: return !labels[label, default: ""].utf8.elementsEqual(text.utf8)
            case .resembles:
                guard let value = labels[label], value.utf8.count <= Self.maximumTextBytes else { return false }
                return Self.has(value, pattern: text)
            }
        }

        /// Takes one step for each byte of the text: senders choose it, and a post has many.
        ///
        /// Bit n of `state` says that n bytes of the pattern, stars aside, may stand for what was
        /// read. Nothing has a pattern that is longer than the bits.
        private static func has(_ text: String, pattern: String) -> Bool {
            let star = UInt8(ascii: "*")
            guard pattern.utf8.contains(star) else { return text.utf8.elementsEqual(pattern.utf8) }
            var wanted = [UInt64](repeating: 0, count: 256)
            var (stays, end): (UInt64, UInt64) = (0, 1)
            for byte in pattern.utf8 {
                if byte == star {
                    stays |= end
                } else {
                    guard end < 1 << 63 else { return false }
                    wanted[Int(byte)] |= end
                    end <<= 1
                }
            }
            var state: UInt64 = 1
            for byte in text.utf8 {
                state = (state & wanted[Int(byte)]) << 1 | (state & stays)
                if state == 0 { return false }
            }
            return state & end != 0
        }
    }

    /// All of them must hold.
    package var matchers: [Matcher]
    /// Where the event goes; nil: into the integration's own topic.
    package var topicID: TopicID?
    /// The event's priority, 1 to 5; nil: as the event says.
    package var priority: Int?

    /// A route of these parts.
    package init(_ matchers: [Matcher], topicID: TopicID? = nil, priority: Int? = nil) {
        (self.matchers, self.topicID, self.priority) = (matchers, topicID, priority)
    }

    /// Whether an event with these labels takes it.
    package func matches(_ labels: [String: String]) -> Bool { matchers.allSatisfy { $0.matches(labels) } }
}

extension Integration {
    /// The route of an event: the first that matches; nil: none does.
    package func route(of event: SenderEvent) -> IntegrationRoute? {
        var labels = event.labels
        // What stands for one alert has that alert's labels too.
        if event.alerts.count == 1 { labels.merge(event.alerts[0].labels) { label, _ in label } }
        return routes.first { $0.matches(labels) }
    }

    /// The topics of its routes beside its own, each once.
    package var routedTopics: [TopicID] {
        var topics: [TopicID] = []
        for case let topic? in routes.map(\.topicID) where topic != topicID && !topics.contains(topic) {
            topics.append(topic)
        }
        return topics
    }

    /// The integration as one of another topic.
    func placed(in topic: TopicID) -> Integration {
        var placed = self
        placed.topicID = topic
        return placed
    }
}

extension SenderEvent {
    /// Whether an integration takes it as one about an incident.
    func isOfIncident(by integration: Integration) -> Bool {
        [.trigger, .acknowledge, .resolve].contains(action) && (integration.grouping != .none || isOfIncident)
    }

    /// The events of an integration that makes an incident of each alert; else the event alone.
    package func singles(of integration: Integration) -> [SenderEvent] {
        let isOfAlerts = [.trigger, .acknowledge, .resolve].contains(action)
        guard isOfAlerts, !isOfIncident, integration.grouping == .alert, let first = alerts.first,
            alerts.count > 1 || first.fingerprint != key
        else { return [self] }
        return alerts.map { alert in
            var single = self
            (single.key, single.alerts, single.truncatedAlerts) = (alert.fingerprint, [alert], 0)
            if alerts.count > 1, !alert.title.isEmpty { single.title = alert.title }
            if action != .acknowledge { single.action = alert.isFiring ? .trigger : .resolve }
            return single
        }
    }
}
