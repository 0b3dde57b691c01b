package import JSON
package import TocsinCore

/// Tells administrators what this server does now, and has done.
package protocol ServerReporting: Sendable {
    /// The fields of `ServerState` but its series, by name; null where something is not known.
    func state() async -> JSONObject
    /// `ServerSeries` of these names, from this moment on; nil: nothing is measured here.
    ///
    /// `step` is in seconds. Throws `badInput` for a name that is not kept, and for a step that the
    /// kept figures cannot be joined to.
    func series(_ names: [String], since: Timestamp, step: Int) throws(ServiceError) -> [JSONObject]?
}
