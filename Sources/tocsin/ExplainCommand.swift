import ArgumentParser
import JSON
import TocsinClient

/// `tocsin explain`: why a message reached a user or not.
struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say why a message reached a user's devices or not.",
        discussion: """
            A line for each gate in the order in which a push meets them: passed, not passed or not decided yet; what \
            is the case; and what to do. The owner of a message may ask about anybody, others about themselves.

            EXAMPLES
              tocsin explain 5f0c… alice

            EXIT STATUS
              0 explained, 1 failed, 2 wrong use
            """
    )

    @Argument(help: "The message's id.")
    var message: String

    @Argument(help: "The user's id, or the name of a local account.")
    var user: String

    @OptionGroup var client: ClientOptions

    @Flag(help: "Print the answer as one JSON object.")
    var json = false

    static let document = """
        query Explain($id: ID!, $user: ID!) {
          explainDelivery(messageId: $id, userId: $user) {
            messageId userId accepted summary
            gates { name passed sentence advice device { id name platform } }
            deliveries { id status reason attempts nextAttemptAt providerId device { id } }
          }
        }
        """

    func run() async throws {
        try await client.run { client in
            let variables: JSONObject = ["id": .string(message), "user": .string(user)]
            guard let answer = try await client.query(Self.document, variables: variables)["explainDelivery"] else {
                throw CommandFailure("The server did not answer.")
            }
            guard !json else { return Terminal.print(answer.serializedString()) }
            for gate in answer["gates"]?.arrayValue ?? [] { Self.show(gate) }
            Terminal.print(Terminal.harmless(answer["summary"]?.stringValue ?? ""))
        }
    }

    private static func show(_ gate: JSONValue) {
        let mark =
            switch gate["passed"]?.boolValue {
            case true?: "ok"
            case false?: "NO"
            case nil: "… "
            }
        let indent = gate["device"]?["id"] == nil ? "" : "  "
        Terminal.print("\(mark)  \(indent)\(Terminal.harmless(gate["sentence"]?.stringValue ?? ""))")
        if let advice = gate["advice"]?.stringValue { Terminal.print("    \(indent)→ \(Terminal.harmless(advice))") }
    }
}
