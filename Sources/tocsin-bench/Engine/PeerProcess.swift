import Foundation
import JSON

/// A program that measures on request, by lines (`scripts/peers/README.md`).
struct PeerProcess {
    /// What it calls itself, with versions.
    let fullName: String
    private let process: LineProcess
    private static let startSeconds = 60.0
    /// A round may overrun by one operation, and on a busy machine a second of CPU time takes many.
    private static let patience = 20.0

    init(_ name: String, program: URL, arguments: [String], environment: [String: String] = [:]) throws {
        process = try LineProcess(program, arguments, environment: environment)
        fullName = try process.answer(within: Self.startSeconds)["name"]?.stringValue ?? name
    }

    func stop() { process.stop() }

    /// What it measured; throws where it does not serve the row.
    func measure(_ row: String, _ pace: MeasurementRequest.Pace) throws -> Measurement {
        try process.send(MeasurementRequest(row: row, pace: pace).json.serialized())
        let answer = try process.answer(within: Self.startSeconds + pace.totalSeconds * Self.patience)
        guard let measurement = Measurement(answer) else {
            throw BenchFailure(answer["unsupported"]?.stringValue ?? "\(fullName) did not answer with figures")
        }
        return measurement
    }
}
