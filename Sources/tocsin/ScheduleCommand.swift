import ArgumentParser
import JSON
import TocsinClient

/// The commands `tocsin schedule add | list | show | remove`.
struct ScheduleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "Look after messages of yours that a running server makes later.",
        subcommands: [Add.self, List.self, Show.self, Remove.self]
    )

    static let kind = KeptKind(
        type: "ScheduledMessage",
        name: "scheduled message",
        fields: """
            id name topicId input dueAt cron timeZone until webhook enabled disabledReason lastMessageId lastAt missed nextAt
            """
    ) { item in
        func text(_ name: String) -> String? { item[name]?.stringValue }
        let plan = text("cron").map { $0 + " " + (text("timeZone") ?? "UTC") } ?? text("dueAt") ?? "-"
        let next = text("nextAt") ?? text("disabledReason") ?? "off"
        return [text("id") ?? "-", next, plan, text("name") ?? ""].map(Terminal.harmless).joined(separator: "\t")
    }
}

extension ScheduleCommand {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Have a message made later, once or again and again.",
            discussion: """
                The server checks the whole message now, and makes it as you when its time comes.

                EXAMPLES
                  tocsin schedule add chores --title "Bins out" --cron "0 19 * * sun" --time-zone Europe/Berlin
                  tocsin schedule add alerts --title "Certificate ends in a week" --at 2026-12-24T09:00:00Z

                EXIT STATUS
                  0 stored, 1 failed, 2 wrong use
                """
        )

        @Argument(help: "The topic's name or id.", completion: .topicNames) var topic: String
        @Option(help: "The line people see first.") var title: String
        @Option(help: "The text.") var body = ""
        @Option(help: "1 (min) to 5 (critical). The server takes 3 by default.") var priority: Int?
        @Option(help: "A link that opens with the message.") var url: String?
        @Option(help: "Your own kind of message, a number.") var type = 0
        @Option(help: "Once: when, with an offset, such as 2026-12-24T09:00:00Z.") var at: String?
        @Option(help: "Again and again: minute, hour, day of month, month, day of week; or RRULE:…") var cron: String?
        @Option(help: "By which clocks the cron line goes, such as Europe/Berlin. Default: UTC.") var timeZone: String?
        @Option(help: "Not after this time.") var until: String?
        @Option(help: "What you call it.") var name: String?
        @Flag(help: "Print the answer as one JSON object.") var json = false
        @OptionGroup var client: ClientOptions

        func validate() throws {
            if title.isEmpty { throw ValidationError("--title is empty. Give the line people should see.") }
            guard (at == nil) != (cron == nil) else {
                throw ValidationError("Give either --at, for once, or --cron, for again and again.")
            }
            try LinkOption.check(url, "--url")
            try MomentOption.check(at, "--at")
            try MomentOption.check(until, "--until")
        }

        func run() async throws {
            try await client.run { client in
                var message: JSONObject = [
                    "title": .string(title), "body": .string(body), "type": .int(Int64(type)),
                ]
                if let priority { message["priority"] = .int(Int64(priority)) }
                if let url { message["url"] = .string(url) }
                var input: JSONObject = [
                    "topicId": .string(try await client.topicID(of: .nameOrID(topic))),
                    "input": .string(JSONValue.object(message).serializedString()),
                ]
                let texts = [("dueAt", at), ("cron", cron), ("timeZone", timeZone), ("until", until), ("name", name)]
                for (field, text) in texts { if let text { input[field] = .string(text) } }
                try await ScheduleCommand.kind.add(input, client, json: json)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List your scheduled messages: id, when each comes next, its plan, its name."
        )

        @Flag(help: "One JSON object a line.") var json = false
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in try await ScheduleCommand.kind.list(client, json: json) }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show one of your scheduled messages as JSON.")

        @Argument(help: "Its id, as `tocsin schedule list` prints it.") var id: String
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in try await ScheduleCommand.kind.show(id, client) }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove one of your scheduled messages.")

        @Argument(help: "Its id, as `tocsin schedule list` prints it.") var id: String
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in try await ScheduleCommand.kind.remove(id, client) }
        }
    }
}
