/// One thing that a sender says, in the shape that every receiver turns its requests into.
package struct SenderEvent: Sendable, Equatable {
    /// What is asked for.
    package enum Action: String, Sendable, CaseIterable {
        /// Something is wrong: opens an incident, or counts in the one that is open.
        case trigger
        /// Somebody has taken it on, at the sender.
        case acknowledge
        /// It is over.
        case resolve
        /// A plain message, without an incident.
        case log
        /// A monitor's sign of life.
        case ping
        /// Nothing.
        case ignore
    }

    /// What is asked for.
    package var action: Action
    /// What the incident is about, 1 to 512 characters, compared as bytes within the integration;
    /// nil on a trigger: a new one is made.
    package var key: String?
    /// Whether the sender asks for an incident by its key, in a shape that else makes plain
    /// messages: then the integration's grouping `NONE` does not count.
    package var isOfIncident = false
    /// One line; a trigger or a log always has one from a receiver, others may have none.
    package var title: String
    /// The text; empty where there is none.
    package var body: String
    /// 1 (min) to 5 (critical); nil: the integration's default.
    package var priority: Int?
    /// Where more is to be seen.
    package var url: String?
    /// At most 64, of 8 KiB together.
    package var labels: [String: String]
    /// What apps get with the push.
    package var data: [String: String]
    /// At most 10.
    package var links: [Link]
    /// An https address of a picture.
    package var image: String?
    /// The notification's category.
    package var category: String?
    /// When it happened, as the sender says.
    package var occurredAt: Timestamp?
    /// The members of what the sender groups.
    package var alerts: [Alert]
    /// How many members more there are that the sender did not show.
    package var truncatedAlerts: Int
    /// The dedupe key of the message that a `log` makes.
    package var messageKey: String?
    /// What later messages take the place of on the screen.
    package var collapseKey: String?
    /// Whether it only takes something off the screen: where nothing is shown under `collapseKey`,
    /// it makes no message.
    package var isWithdrawal: Bool
    /// When the message is to come; nil: at once.
    package var dueAt: Timestamp?
    /// The incident resolves itself after so long without an event; nil: the integration says.
    package var resolveAfterSeconds: Int?
    /// Whether devices get it.
    package var isPushed: Bool
    /// At most three.
    package var buttons: [Button]

    /// An event with nothing but what is named.
    package init(_ action: Action, key: String? = nil, title: String = "", body: String = "") {
        (self.action, self.key, self.title, self.body) = (action, key, title, body)
        (labels, data, links, alerts, buttons) = ([:], [:], [], [], [])
        (truncatedAlerts, isPushed, isWithdrawal) = (0, true, false)
    }

    /// An address with its words.
    package struct Link: Sendable, Equatable {
        /// The words.
        package var text: String
        /// The address.
        package var url: String

        /// A link of these parts.
        package init(text: String, url: String) { (self.text, self.url) = (text, url) }
    }

    /// One member of what a sender groups.
    package struct Alert: Sendable, Equatable {
        /// Names it for the sender.
        package var fingerprint: String
        /// Whether it fires; else it is over.
        package var isFiring: Bool
        /// One line.
        package var title: String
        /// What it is about.
        package var labels: [String: String]
        /// Where more is to be seen.
        package var url: String?
        /// Since when it fires.
        package var startsAt: Timestamp?
        /// When it ended.
        package var endsAt: Timestamp?

        /// An alert without address and times.
        package init(fingerprint: String, isFiring: Bool, title: String, labels: [String: String]) {
            (self.fingerprint, self.isFiring, self.title, self.labels) = (fingerprint, isFiring, title, labels)
        }
    }

    /// A request that the server makes when a button is pressed.
    package struct Call: Sendable, Equatable {
        /// The method in capitals.
        package var method: String
        /// The address.
        package var url: String
        /// Headers, at most 16.
        package var headers: [String: String]
        /// The body; empty where there is none.
        package var body: String

        /// A call of these parts.
        package init(method: String, url: String, headers: [String: String], body: String) {
            (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        }
    }

    /// A button that a sender asks for.
    package struct Button: Sendable, Equatable {
        /// Names it for the app.
        package var id: String
        /// What it says.
        package var title: String
        /// What it opens.
        package var url: String?
        /// What the server asks for when it is pressed; nil: nothing.
        package var call: Call?
        /// The same as a message keeps it (`ButtonCall`).
        package var sealedCall: String?

        /// A button of these parts.
        package init(id: String, title: String, url: String?) {
            (self.id, self.title, self.url) = (id, title, url)
        }
    }
}
