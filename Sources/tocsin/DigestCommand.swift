import ArgumentParser
import JSON
import TocsinClient

/// The commands `tocsin digest add | list | remove`.
struct DigestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "digest",
        abstract: "Look after summaries that a running server makes for you.",
        subcommands: [Add.self, List.self, Remove.self]
    )

    static let kind = KeptKind(
        type: "Digest",
        name: "digest",
        fields: "id name topicIds at days timeZone minPriority skipEmpty url lastMessageId lastAt missed nextAt"
    ) { item in
        func text(_ name: String) -> String? { item[name]?.stringValue }
        let days = item["days"]?.arrayValue?.compactMap(\.stringValue).joined(separator: ",")
        let plan = [text("at"), text("timeZone"), days].compactMap(\.self).joined(separator: " ")
        return [text("id") ?? "-", text("nextAt") ?? "-", plan, text("name") ?? ""].map(Terminal.harmless)
            .joined(separator: "\t")
    }
}

extension DigestCommand {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Have one message tell you what topics brought, at a time of the day.",
            discussion: """
                Without topics it tells of all that you get with delivery DIGEST.

                EXAMPLES
                  tocsin digest add Morning --at 08:00 --time-zone Europe/Berlin
                  tocsin digest add Urgent alerts billing --at 17:30 --time-zone UTC --days mo,fr --min-priority 4

                EXIT STATUS
                  0 stored, 1 failed, 2 wrong use
                """
        )

        @Argument(help: "What its messages begin with.") var name: String
        @Argument(help: "Names or ids of topics.", completion: .topicNames) var topics: [String] = []
        @Option(help: "When, by the clocks of the zone, such as 08:00.") var at: String
        @Option(help: "Whose clocks, such as Europe/Berlin.") var timeZone: String
        @Option(help: "Days such as mo,tu,we. Default: each day.") var days: String?
        @Option(help: "Tell of messages of this priority and above, 1 to 5.") var minPriority: Int?
        @Option(help: "The page of an app that shows the feed.") var url: String?
        @Flag(help: "Have a message also where nothing came.") var evenEmpty = false
        @Flag(help: "Print the answer as one JSON object.") var json = false
        @OptionGroup var client: ClientOptions

        private static let known = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]

        private var dayNames: [String]? {
            days.map { $0.uppercased().split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        }

        func validate() throws {
            if name.isEmpty { throw ValidationError("The name is empty. Give what the digest's messages begin with.") }
            if let wrong = dayNames?.first(where: { !Self.known.contains($0) }) {
                throw ValidationError("--days has \"\(wrong)\". Write days such as mo,tu,we,th,fr,sa,su.")
            }
            try LinkOption.check(url, "--url")
            try ClockOption.check(at, "--at")
        }

        func run() async throws {
            try await client.run { client in
                var input: JSONObject = [
                    "name": .string(name), "at": .string(at), "timeZone": .string(timeZone),
                    "skipEmpty": .bool(!evenEmpty),
                ]
                if !topics.isEmpty {
                    var ids: [JSONValue] = []
                    for topic in topics { ids.append(.string(try await client.topicID(of: .nameOrID(topic)))) }
                    input["topicIds"] = .array(ids)
                }
                if let dayNames { input["days"] = .array(dayNames.map { .string($0) }) }
                if let minPriority { input["minPriority"] = .int(Int64(minPriority)) }
                if let url { input["url"] = .string(url) }
                try await DigestCommand.kind.add(input, client, json: json)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List your digests: id, when each comes next, its plan, its name."
        )

        @Flag(help: "One JSON object a line.") var json = false
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in try await DigestCommand.kind.list(client, json: json) }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove one of your digests.")

        @Argument(help: "Its id, as `tocsin digest list` prints it.") var id: String
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in try await DigestCommand.kind.remove(id, client) }
        }
    }
}
