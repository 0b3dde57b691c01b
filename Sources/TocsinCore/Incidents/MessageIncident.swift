/// What a message that somebody publishes says of an incident of its topic.
package struct MessageIncident: Sendable, Hashable {
    /// What the incident is about.
    package var key: String
    /// What happens to it: trigger, acknowledge or resolve.
    package var action: SenderEvent.Action
    /// What the message has for apps.
    package var data: [String: String]

    /// An event of this key.
    package init(key: String, action: SenderEvent.Action, data: [String: String] = [:]) {
        (self.key, self.action, self.data) = (key, action, data)
    }
}
