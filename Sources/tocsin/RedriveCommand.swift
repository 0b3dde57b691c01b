import ArgumentParser
import JSON
import TocsinClient

/// `tocsin redrive`: sends a message's failed or skipped pushes again.
struct RedriveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redrive",
        abstract: "Send a message's failed or skipped pushes again.",
        discussion: """
            Makes the deliveries in that state due again, with no attempts counted, and prints the counts of all \
            states afterwards. Mend first what their reasons name (`tocsin deliveries MESSAGE`).

            EXAMPLES
              tocsin redrive 5f0c…
              tocsin redrive 5f0c… --status SKIPPED

            EXIT STATUS
              0 done, 1 failed, 2 wrong use
            """
    )

    @Argument(help: "The message's id.")
    var message: String

    @Option(help: "FAILED or SKIPPED.")
    var status = "FAILED"

    @OptionGroup var client: ClientOptions

    @Flag(help: "Print the counts as one JSON object.")
    var json = false

    static let document = """
        mutation Redrive($id: ID!, $status: DeliveryStatus) {
          redriveDeliveries(messageId: $id, status: $status) { \(DeliveryStates.counts) }
        }
        """

    func validate() throws { try DeliveryStates.check(status, among: ["FAILED", "SKIPPED"]) }

    func run() async throws {
        try await client.run { client in
            let variables: JSONObject = ["id": .string(message), "status": .string(status.uppercased())]
            let summary = try await redrive(client, variables)
            Terminal.print(json ? (summary ?? .null).serializedString() : DeliveryStates.line(summary))
        }
    }

    private func redrive(_ client: TocsinClient, _ variables: JSONObject) async throws -> JSONValue? {
        do throws(ClientError) {
            return try await client.mutate(Self.document, variables: variables)["redriveDeliveries"]
        } catch {
            guard error.code == .unauthorized else { throw error }
            throw CommandFailure(
                "There is no message \(message) whose pushes this token may send again. Take the id that `tocsin publish` "
                    + "printed, and a full token of somebody who may read the topic."
            )
        }
    }
}
