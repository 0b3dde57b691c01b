import ArgumentParser
import JSON
import TocsinCore

/// `tocsin snooze`: lets an incident be quiet for a while.
struct SnoozeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snooze",
        abstract: "Let an incident be quiet for a while; then it is open again, and rings.",
        discussion: """
            EXAMPLES
              tocsin snooze alerts#42 1h
              tocsin snooze alerts#42 90m
              tocsin snooze alerts#42 2026-12-24T09:00:00Z

            EXIT STATUS
              0 done, 1 failed (there is no such incident, or it is resolved), 2 wrong use
            """
    )

    @OptionGroup var act: IncidentActOptions

    @Argument(help: "For how long: minutes (30m), hours (1h) or days (2d), at most 30d; or until when, with an offset.")
    var time: String

    static let document = """
        mutation SnoozeHere($id: ID!, $minutes: Int, $until: AWSDateTime) {
          snoozeIncident(id: $id, minutes: $minutes, until: $until) { \(IncidentActOptions.fields) }
        }
        """

    private static let minutesOfUnits: [Character: Int64] = ["m": 1, "h": 60, "d": 1440]
    private static let maximumMinutes: Int64 = 43_200

    /// The minutes that the text says; nil: it is no length of time.
    private var minutes: Int64? {
        guard let unit = time.last, let factor = Self.minutesOfUnits[unit], let count = Int64(time.dropLast())
        else { return nil }
        let (minutes, isTooLarge) = count.multipliedReportingOverflow(by: factor)
        return isTooLarge ? Int64.max : minutes
    }

    func validate() throws {
        if let minutes {
            guard (1...Self.maximumMinutes).contains(minutes) else {
                throw ValidationError("A snooze lasts 1m to 30d, not \(Terminal.harmless(time)).")
            }
        } else if Timestamp(awsDateTime: time) == nil {
            throw ValidationError(
                "\"\(Terminal.harmless(time))\" is no time. Write a length such as 30m, 1h or 2d, or a moment with an "
                    + "offset such as 2026-12-24T09:00:00Z."
            )
        }
    }

    func run() async throws {
        let minutes = minutes
        try await act.act(
            Self.document,
            field: "snoozeIncident",
            [
                "minutes": minutes.map { .int($0) } ?? .null,
                "until": minutes == nil ? .string(time) : .null,
            ]
        )
    }
}
