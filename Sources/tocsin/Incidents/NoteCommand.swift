import ArgumentParser
import JSON
import TocsinClient

/// `tocsin note`: adds a line to an incident's timeline.
struct NoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "note",
        abstract: "Add a line to an incident's timeline; prints its number.",
        discussion: """
            EXAMPLES
              tocsin note alerts#42 'the disk is on its way'

            EXIT STATUS
              0 done, 1 failed, 2 wrong use
            """
    )

    @Argument(help: "The incident by topic and number, such as alerts#42, or by its id.")
    var incident: String

    @Argument(help: "The line, at most 4 KiB.")
    var text: String

    @Flag(help: "Print the entry as one JSON object.")
    var json = false

    @OptionGroup var client: ClientOptions

    static let document = """
        mutation NoteHere($id: ID!, $text: String!) {
          addIncidentNote(id: $id, text: $text) { number at change by via text }
        }
        """

    func run() async throws {
        try await client.run { client in
            let id = try await IncidentReference(incident).id(client)
            let answer = try await client.mutate(Self.document, variables: ["id": .string(id), "text": .string(text)])
            let entry = answer["addIncidentNote"] ?? .null
            Terminal.print(json ? entry.serializedString() : "\(entry["number"]?.intValue ?? 0)")
        }
    }
}
