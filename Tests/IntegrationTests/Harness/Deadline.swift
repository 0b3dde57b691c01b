import Foundation

/// Something expected did not come in time, or a process did not do what was asked.
struct HarnessFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Looks until there is a value, and fails with what was waited for when the time is over.
func eventually<Value>(
    _ what: String,
    withinSeconds seconds: Double = 60,
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
    withinSeconds seconds: Double = 60,
    isTrue condition: () async throws -> Bool
) async throws {
    _ = try await eventually(what, withinSeconds: seconds) { try await condition() ? true : nil }
}
