import ArgumentParser

/// `tocsin ack`: takes an incident on.
struct AckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ack",
        abstract: "Acknowledge an incident: you look after it, and it rings no more.",
        discussion: """
            Pushes that ask for somebody end on every device. To repeat it changes nothing; where somebody else has it, \
            you join them.

            EXAMPLES
              tocsin ack alerts#42
              tocsin ack alerts#42 -m 'on my way' --on laptop

            EXIT STATUS
              0 done, 1 failed (there is no such incident, or it is resolved), 2 wrong use
            """
    )

    @OptionGroup var act: IncidentActOptions

    @OptionGroup var saying: IncidentSayingOptions

    static let document = """
        mutation AcknowledgeHere($id: ID!, $note: String, $on: String) {
          acknowledgeIncident(id: $id, note: $note, on: $on) { \(IncidentActOptions.fields) }
        }
        """

    func run() async throws {
        try await act.act(Self.document, field: "acknowledgeIncident", saying.variables)
    }
}
