import ArgumentParser
import JSON
import TocsinClient

/// `tocsin subscribe`: follows a topic and prints, or acts on, what comes.
struct SubscribeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe",
        abstract: "Follow a topic of a running server.",
        discussion: """
            Prints each message once, in order. A lost connection is opened again, and the feed goes on after the last \
            message: nothing is missed and nothing comes twice. Without --after the feed begins now. The command runs \
            until it is stopped, or until --count messages have come.

            With --state, where it stands is kept in a file, and a later run goes on from there; --after counts only while \
            there is no such file. A message counts as handled when its line is written to standard output and its \
            --exec command has ended, whatever its status; only then the file is changed, in one step, and synchronised \
            with the disk. So no message is missed, whatever is killed: server, network or this command. A kill of this \
            command between the two brings that one message again in the next run: a command of --exec that must not act \
            twice remembers TOCSIN_ID, and who reads lines of JSON drops one whose "number" is not above the last.

            With --exec, a command is run by `sh -c` for each message, one at a time; it finds the message as JSON on \
            its standard input and in TOCSIN_TITLE, TOCSIN_BODY (at most 100 kB), TOCSIN_PRIORITY, TOCSIN_TYPE, \
            TOCSIN_ID, TOCSIN_NUMBER, TOCSIN_CURSOR, TOCSIN_CREATED_AT, TOCSIN_CATEGORY, TOCSIN_MESSAGE_URL and \
            TOCSIN_TOPIC_ID. A command that fails is reported and the feed goes on.

            EXAMPLES
              tocsin subscribe alerts
              tocsin subscribe alerts --json | jq -r .title
              tocsin subscribe alerts --state alerts.state --json >> alerts.jsonl
              tocsin subscribe alerts --exec 'notify-send "$TOCSIN_TITLE" "$TOCSIN_BODY"'

            ENVIRONMENT
              TOCSIN_URL    the server's address
              TOCSIN_TOKEN  the token

            EXIT STATUS
              0 done, 1 failed (token, cursor or topic not accepted), 2 wrong use
            """
    )

    @Argument(help: "The topic's name or id.", completion: .topicNames)
    var topic: String

    @Option(help: "Begin after the message with this cursor.")
    var after: String?

    @Option(help: ArgumentHelp("Keep in this file where the feed stands, and go on from there.", valueName: "file"))
    var state: String?

    @Flag(help: "Print each message as one line of JSON, its cursor included.")
    var json = false

    @Option(help: ArgumentHelp("Run this for each message.", valueName: "command"))
    var exec: String?

    @Option(help: "End after this many messages.")
    var count: Int?

    @OptionGroup var client: ClientOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count \(count) is less than 1.") }
    }

    func run() async throws {
        let client = try client.makeClient()
        let kept = state.map { SubscriptionState(path: $0, topic: topic) }
        let feed = makeFeed(client, kept, from: try kept?.load())
        try await runClient {
            var rest = count ?? Int.max
            for try await message in feed {
                try await handle(message)
                try kept?.save(message.resumePoint)
                rest -= 1
                if rest == 0 { break }
            }
        }
    }

    private func makeFeed(_ client: TocsinClient, _ kept: SubscriptionState?, from point: ResumePoint?) -> MessageFeed {
        let topic = topic
        let tell: @Sendable (MessageFeed.Change) -> Void = { change in
            switch change {
            case .begun(let point):
                // Without it a kill before the first message would begin anew, later.
                do {
                    try kept?.save(point)
                } catch {
                    Terminal.remark("\(error)")
                }
            case .live: Terminal.remark("Following \(topic).")
            case .caughtUp: break
            case .interrupted(let error, let pause):
                let seconds = (Double(pause.components.attoseconds) / 1e18 + Double(pause.components.seconds))
                Terminal.remark("\(error.message) Trying again in \((seconds * 10).rounded() / 10) s.")
            }
        }
        if let point { return client.follow(from: point, onChange: tell) }
        return client.follow(topic: .nameOrID(topic), after: after, onChange: tell)
    }

    private func handle(_ message: FeedMessage) async throws {
        if let exec {
            let status = try await MessageHook(command: exec).run(message)
            if status != 0 { Terminal.remark("The command ended with status \(status) for message \(message.number).") }
        }
        if json {
            Terminal.print(message.json.serializedString())
        } else if exec == nil {
            Terminal.print(message.lines)
        }
    }
}

extension FeedMessage {
    /// All parts; what a message lacks is left out.
    var json: JSONValue {
        var object: JSONObject = [
            "id": .string(id), "number": .int(number), "cursor": .string(cursor), "topicId": .string(topicID),
            "type": .int(type), "title": .string(title), "body": .string(body), "createdAt": .string(createdAt),
            "priority": .int(priority),
        ]
        if let url { object["url"] = .string(url) }
        if let category { object["category"] = .string(category) }
        if !data.isEmpty {
            object["data"] = .object(JSONObject(data.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
        }
        return .object(object)
    }

    /// For people: time, number and title, then the text, indented.
    fileprivate var lines: String {
        let mark = priority > 3 ? String(repeating: "!", count: Int(min(priority, 5)) - 3) + " " : ""
        let head = "\(createdAt) #\(number) \(mark)\(Terminal.harmless(title))"
        let text = Terminal.harmless(body).split(separator: "\n", omittingEmptySubsequences: false).map { "    " + $0 }
        let link = url.map { ["    " + Terminal.harmless($0)] } ?? []
        return ([head] + (body.isEmpty ? [] : text) + link).joined(separator: "\n")
    }
}
