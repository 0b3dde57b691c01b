import Foundation
import TocsinClient

/// Something expected did not come in time, or a process did not do what was asked.
struct HarnessFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// How long a test waits for one thing: what two cores need that run all tests at once.
enum Patience {
    static let seconds = 120.0
    /// The same, as curl's `--max-time` takes it.
    static let ofCurl = "\(Int(seconds))"
}

extension ClientSettings {
    /// Waits long for each answer, and comes back quickly after a restart.
    mutating func isPatientButQuick() {
        (connectTimeout, handshakeTimeout) = (.seconds(60), .seconds(60))
        requestTimeout = .seconds(Patience.seconds)
        feedPauses = Backoff(first: .milliseconds(20), longest: .milliseconds(200))
        overloadSpread = .milliseconds(200)
    }
}

/// Looks until there is a value, and fails with what was waited for when the time is over.
func eventually<Value>(
    _ what: String,
    withinSeconds seconds: Double = Patience.seconds,
    _ look: () async throws -> Value?
) async throws -> Value {
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
        if let value = try await look() { return value }
        guard ContinuousClock.now < end else { throw HarnessFailure("Not within \(seconds) s: \(what).") }
        try await Task.sleep(for: .milliseconds(10))
    }
}

/// Looks until the condition holds, and fails with what was waited for when the time is over.
func eventually(
    _ what: String,
    withinSeconds seconds: Double = Patience.seconds,
    isTrue condition: () async throws -> Bool
) async throws {
    _ = try await eventually(what, withinSeconds: seconds) { try await condition() ? true : nil }
}
