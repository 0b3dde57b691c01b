import ArgumentParser
import JSON
import TocsinClient

/// `tocsin simulate`: a test notification for one user's devices.
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Send a test notification to the devices of a user.",
        discussion: """
            Publishes a message to a topic of the user, which is created when it is missing; its creator's devices get \
            its pushes. The token decides whose topic it is and must be the user's: a token of somebody else is refused \
            before anything is sent.

            EXAMPLES
              tocsin simulate -u ada
              tocsin simulate -u ada -r alerts -t 7 -n "Pump 3" -b "Pressure is low"
              tocsin simulate -u ada -t ORDER_SHIPPED

            ENVIRONMENT
              TOCSIN_URL    the server's address
              TOCSIN_TOKEN  a token of the user

            EXIT STATUS
              0 stored, 1 failed, 2 wrong use
            """
    )

    @Option(name: .shortAndLong, help: "The user, by name or id.")
    var user: String

    @Option(name: .shortAndLong, help: "A number is the message's type; anything else its category.")
    var type = "0"

    @Option(name: .shortAndLong, help: "The topic's name.")
    var resource = "simulation"

    @Option(name: [.customShort("n"), .long], help: "The line people see first.")
    var title = "Test notification"

    @Option(name: .shortAndLong, help: "The text.")
    var body = "Sent by tocsin simulate."

    @OptionGroup var client: ClientOptions

    @Flag(help: "Print the answer as one JSON object.")
    var json = false

    func run() async throws {
        let client = try client.makeClient()
        try await runClient {
            let me = try await client.query("{ me { userId username } }")["me"]
            let (userID, username) = (me?["userId"]?.stringValue, me?["username"]?.stringValue)
            guard user == userID || user == username else {
                throw ClientError(
                    .unauthorized,
                    "The token belongs to \(username ?? "somebody else"), not to \(user). "
                        + "`tocsin token create --user \(user)` makes one."
                )
            }
            let topicID = try await client.makeTopic(named: resource)
            let message = try await client.publish(topic: .id(topicID), draft)
            let object: JSONValue = [
                "id": .string(message.id), "number": .int(message.number), "topicId": .string(topicID),
            ]
            Terminal.print(json ? object.serializedString() : "\(message.id) \(message.number)")
        }
        client.close()
    }

    private var draft: MessageDraft {
        var draft = MessageDraft(title: title, body: body, type: Int(type) ?? 0)
        if Int(type) == nil { draft.category = type }
        return draft
    }
}
