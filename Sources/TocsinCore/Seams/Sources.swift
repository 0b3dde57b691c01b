/// Wall time and sleeping, together, so that no code can be half injected.
package protocol TimeSource: Sendable {
    func now() -> Timestamp
    /// Sleeps until the moment has come; throws `CancellationError` when the task is cancelled.
    func sleep(until moment: Timestamp) async throws
}

/// Identifiers, secrets and jitter.
package protocol IdentifierSource: Sendable {
    /// A UUID version 7 in lower case, greater than those made before (RFC 9562 §5.7).
    func makeID() -> String
    /// Unpredictable bytes for secrets.
    func randomBytes(_ count: Int) -> [UInt8]
    /// A number in 0..<1 for jitter.
    func randomUnit() -> Double
}
