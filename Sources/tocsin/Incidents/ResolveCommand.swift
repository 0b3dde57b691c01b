import ArgumentParser
import JSON

/// `tocsin resolve`: ends an incident.
struct ResolveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Resolve an incident: it is over.",
        discussion: """
            This is allowed while alerts fire; the timeline says so. To repeat it changes nothing.

            EXAMPLES
              tocsin resolve alerts#42
              tocsin resolve alerts#42 -m 'disk replaced'

            EXIT STATUS
              0 done, 1 failed (there is no such incident), 2 wrong use
            """
    )

    @OptionGroup var act: IncidentActOptions

    @Option(name: [.customShort("m"), .long], help: "What the timeline is to say, at most 4 KiB.")
    var note: String?

    @Option(help: "Where you are, such as laptop, or the id of a device of yours.")
    var on: String?

    static let document = """
        mutation ResolveHere($id: ID!, $note: String, $on: String) {
          resolveIncident(id: $id, note: $note, on: $on) { \(IncidentActOptions.fields) }
        }
        """

    func run() async throws {
        try await act.act(
            Self.document,
            field: "resolveIncident",
            ["note": note.map { .string($0) } ?? .null, "on": on.map { .string($0) } ?? .null]
        )
    }
}
