/// How the server is, for those who watch it.
public protocol HealthReporting: Sendable {
    /// Whether the process works at all.
    func live() -> HealthReport
    /// Whether requests can be served now.
    func ready() async -> HealthReport
}

/// One answer to the question how the server is.
public struct HealthReport: Sendable, Hashable {
    /// The short answer.
    public enum Status: Sendable, Hashable {
        /// All is well.
        case ok
        /// Do not send requests now.
        case unavailable
    }

    /// The short answer.
    public var status: Status
    /// The details in JSON; no secrets, as anybody may ask.
    public var body: [UInt8]

    /// A report of these parts.
    public init(status: Status, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}
