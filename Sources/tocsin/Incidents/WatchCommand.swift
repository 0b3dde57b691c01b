import ArgumentParser
import JSON
import TocsinClient

/// `tocsin watch`: tells what becomes of incidents, as it happens.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Follow incidents: a line for each change that people should know of.",
        discussion: """
            A line for each: time, name, change, state, title, and who did it. A lost connection is opened again, and the \
            feed goes on after the last change: nothing is missed and nothing comes twice. The command runs until it is \
            stopped, or until --count changes have come.

            Without --topic the topics are followed that you may read when the command starts, at most 200. What comes \
            from several topics at once is in order within each. To act on changes, use `tocsin subscribe --exec`, \
            which also keeps its place in a file.

            EXAMPLES
              tocsin watch
              tocsin watch --topic alerts --json

            EXIT STATUS
              0 done, 1 failed (token or topic not accepted), 2 wrong use
            """
    )

    @Option(help: "Follow this topic alone: its name or id.", completion: .topicNames)
    var topic: String?

    @Option(help: "With --topic: begin after the message with this cursor.")
    var after: String?

    @Option(help: "End after so many changes.")
    var count: Int?

    @Flag(help: "Print each change as one line of JSON.")
    var json = false

    @OptionGroup var client: ClientOptions

    static let document = """
        query WatchedTopics($next: String) {
          listTopics(limit: 100, nextToken: $next) { nextToken items { id name _deleted } }
        }
        """

    private static let maximumTopics = 200

    private struct Watched: Sendable {
        let id: String
        let name: String
    }

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count \(count) is less than 1.") }
        if after != nil, topic == nil { throw ValidationError("--after says where in a topic: give --topic too.") }
    }

    func run() async throws {
        try await client.run { client in
            let topics = try await topics(client)
            guard !topics.isEmpty else {
                throw CommandFailure("There is no topic that you may read; `tocsin topic create NAME` makes one.")
            }
            try await follow(topics, client)
        }
    }

    private func topics(_ client: TocsinClient) async throws -> [Watched] {
        if let topic { return [Watched(id: try await client.topicID(of: .nameOrID(topic)), name: topic)] }
        var topics: [Watched] = []
        var next = JSONValue.null
        repeat {
            let page = try await client.query(Self.document, variables: ["next": next])["listTopics"]
            for item in page?["items"]?.arrayValue ?? [] where item["_deleted"]?.boolValue != true {
                guard let id = item["id"]?.stringValue else { continue }
                topics.append(Watched(id: id, name: item["name"]?.stringValue ?? id))
            }
            next = page?["nextToken"] ?? .null
        } while next != .null && topics.count <= Self.maximumTopics
        guard topics.count <= Self.maximumTopics else {
            throw CommandFailure("There are more than \(Self.maximumTopics) topics. Give --topic.", status: 2)
        }
        return topics
    }

    private func follow(_ topics: [Watched], _ client: TocsinClient) async throws {
        let (lines, out) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .unbounded)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for topic in topics {
                let (json, after) = (json, after)
                group.addTask {
                    for try await message in Self.feed(topic, after: after, client) {
                        if let line = Self.line(message, in: topic, json: json) { out.yield(line) }
                    }
                    throw CommandFailure("The feed of \(Terminal.harmless(topic.name)) has ended.")
                }
            }
            group.addTask { [count] in
                var rest = count ?? Int.max
                for await line in lines {
                    Terminal.print(line)
                    rest -= 1
                    if rest == 0 { return }
                }
            }
            // Feeds end by failing alone; the printer ends when all that was asked for is printed.
            try await group.next()
            group.cancelAll()
        }
    }

    private static func feed(_ topic: Watched, after: String?, _ client: TocsinClient) -> MessageFeed {
        client.follow(topic: .id(topic.id), after: after) { change in
            let name = Terminal.harmless(topic.name)
            switch change {
            case .live: Terminal.remark("Following \(name).")
            case .interrupted(let error, _): Terminal.remark("\(name): \(error.message) Trying again.")
            case .begun, .caughtUp: break
            }
        }
    }

    /// The line of a message that tells of an incident; nil of any other.
    private static func line(_ message: FeedMessage, in topic: Watched, json: Bool) -> String? {
        guard let id = message.data["incidentId"], let change = message.data["incidentChange"] else { return nil }
        let state = message.data["incidentState"] ?? ""
        let number = message.data["incidentNumber"].flatMap { Int64($0) } ?? 0
        guard !json else {
            let object: JSONObject = [
                "at": .string(message.createdAt), "topic": .string(topic.name), "topicId": .string(topic.id),
                "number": .int(number), "incidentId": .string(id), "change": .string(change),
                "state": .string(state), "title": .string(message.title), "body": .string(message.body),
                "priority": .string(message.data["incidentPriority"] ?? ""), "messageNumber": .int(message.number),
                "cursor": .string(message.cursor),
            ]
            return JSONValue.object(object).serializedString()
        }
        var words = [message.createdAt, "\(topic.name)#\(number)", change, state, message.title]
        // What people do is told in the text; what senders say may be long.
        if ["ACKNOWLEDGED", "SNOOZED", "RESOLVED", "ASSIGNED"].contains(change) { words.append(message.body) }
        return words.map(IncidentWording.oneLine).joined(separator: "\t")
    }
}
