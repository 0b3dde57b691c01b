import ArgumentParser
import Glibc
import JSON
import TocsinClient
import TocsinServer

/// `tocsin publish`: one message into a topic of a running server.
struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publish a message to a topic of a running server.",
        discussion: """
            The command ends with status 0 when the server has stored the message, and prints its id and number. The \
            message gets its id here: an answer that is lost on its way makes no second message. With --key the same \
            holds for repeated runs: the same key with the same content again changes nothing.

            EXAMPLES
              tocsin publish alerts --title "Disk full" --body "sda1: 95 %" --priority 4
              df -h | tocsin publish alerts --title "Disks" --body - --key "disks-$(date +%F)"
              tocsin publish ci --title "Build 17 failed" --url https://ci.example/17 \\
                --data branch=main

            ENVIRONMENT
              TOCSIN_URL    the server's address
              TOCSIN_TOKEN  the token; `tocsin token create --user NAME --publish TOPIC`
                            makes one that can do only this

            EXIT STATUS
              0 stored, 1 failed, 2 wrong use
            """
    )

    @Argument(help: "The topic's name or id.", completion: .topicNames)
    var topic: String

    @Option(help: "The line people see first.")
    var title: String

    @Option(help: "The text; - reads standard input.")
    var body = ""

    @Option(help: "1 (min) to 5 (critical). The server takes 3 by default.")
    var priority: Int?

    @Option(help: "A link that opens with the message.")
    var url: String?

    @Option(help: "Your own dedupe key within the topic.")
    var key: String?

    @Option(help: "Your own kind of message: a number, or a word such as comment.")
    var type = "0"

    @Option(help: ArgumentHelp("A text handed to the app; may be given often.", valueName: "key=value"))
    var data: [String] = []

    @Option(help: "iOS category, Android click action.")
    var category: String?

    @Option(help: "The message's id, a UUID or ULID; made here by default.")
    var id: String?

    @OptionGroup var client: ClientOptions

    @Flag(help: "Print the answer as one JSON object.")
    var json = false

    func validate() throws {
        if title.isEmpty { throw ValidationError("--title is empty. Give the line people should see.") }
        if type.isEmpty { throw ValidationError("--type is empty. Give a number or a word.") }
        if let priority, !(1...5).contains(priority) {
            throw ValidationError("--priority \(priority) is not from 1 (min) to 5 (critical).")
        }
        try LinkOption.check(url, "--url")
        _ = try texts()
    }

    func run() async throws {
        try await client.run { client in
            let message = try await client.publish(topic: .nameOrID(topic), try makeDraft())
            let object: JSONValue = [
                "id": .string(message.id), "number": .int(message.number), "cursor": .string(message.cursor),
                "topicId": .string(message.topicID), "createdAt": .string(message.createdAt),
            ]
            Terminal.print(json ? object.serializedString() : "\(message.id) \(message.number)")
        }
    }

    private func makeDraft() throws -> MessageDraft {
        var draft = MessageDraft(title: title, body: body == "-" ? try Self.standardInput() : body)
        if let number = Int32(type) { draft.type = Int(number) } else { draft.typeName = type }
        draft.priority = priority
        draft.url = url
        draft.key = key
        draft.id = id
        draft.category = category
        draft.data = try texts()
        return draft
    }

    private func texts() throws -> [String: String] {
        var texts: [String: String] = [:]
        for pair in data {
            guard let equals = pair.firstIndex(of: "="), equals > pair.startIndex else {
                throw ValidationError("--data \"\(pair)\" is not of the form key=value.")
            }
            texts[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
        }
        return texts
    }

    /// The longest body read; the server's own limit is below it.
    private static let maximumInputBytes = 1 << 20

    private static func standardInput() throws -> String {
        let bytes: [UInt8]
        do throws(SystemFile.Failure) {
            bytes = try SystemFile.rest(of: STDIN_FILENO, maximumBytes: maximumInputBytes)
        } catch {
            throw ValidationError("Standard input cannot be used: \(error.reason).")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ValidationError("Standard input is not text in UTF-8.")
        }
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}
