import ArgumentParser

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

    @OptionGroup var saying: IncidentSayingOptions

    static let document = """
        mutation ResolveHere($id: ID!, $note: String, $on: String) {
          resolveIncident(id: $id, note: $note, on: $on) { \(IncidentActOptions.fields) }
        }
        """

    func run() async throws {
        try await act.act(Self.document, field: "resolveIncident", saying.variables)
    }
}
