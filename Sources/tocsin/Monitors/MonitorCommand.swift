import ArgumentParser
import JSON
import TocsinClient

/// The commands `tocsin monitor add | list | show | key | pause | delete`.
struct MonitorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Look after monitors: pings that must come.",
        discussion: """
            EXAMPLES
              tocsin monitor add "Nightly backup" --slug backup --topic alerts --every 86400 --grace 7200
              tocsin monitor add "Report" --slug report --topic alerts --cron "0 6 * * mon-fri" --zone Europe/Berlin
              tocsin monitor list
              tocsin monitor show backup --pings 5
              tocsin monitor pause backup --minutes 60
              tocsin monitor delete backup
            """,
        subcommands: [Add.self, List.self, Show.self, Key.self, Pause.self, Delete.self]
    )

    static let documents = [
        addDocument, listDocument, showDocument, bySlugDocument, keyDocument, pauseDocument, deleteDocument,
    ]

    static let addDocument = """
        mutation AddMonitor($input: CreateMonitorInput!) { createMonitor(input: $input) { id name slug } }
        """
    static let listDocument = """
        query ListMonitorsHere($next: String) {
          listMonitors(limit: 100, nextToken: $next) {
            nextToken items { id slug name state lastPingAt dueAt _deleted }
          }
        }
        """
    static let showDocument = """
        query ShowMonitor($id: ID!, $pings: Int) {
          getMonitor(id: $id) {
            id slug name topicId state priority periodSeconds cron timeZone graceSeconds maxRunSeconds failures
            successes lastPingAt lastStartAt lastDurationMs dueAt uptime _version _deleted
            incident { id number state title }
            pings(limit: $pings) { items { at signal exitStatus durationMs body } }
          }
        }
        """
    static let bySlugDocument = """
        query MonitorsBySlugHere($slug: String!) {
          monitorsBySlug(slug: $slug, limit: 10) { items { id _deleted } }
        }
        """
    static let keyDocument = """
        mutation RotateMonitorKey($id: ID!, $overlap: Int) {
          rotateMonitorKey(id: $id, overlapSeconds: $overlap) { key url snippets monitor { id slug name } }
        }
        """
    static let pauseDocument = """
        mutation PauseMonitor($id: ID!, $until: AWSDateTime) {
          pauseMonitor(id: $id, until: $until) { id slug state dueAt }
        }
        """
    static let deleteDocument = """
        mutation DeleteMonitorHere($input: DeleteMonitorInput!) { deleteMonitor(input: $input) { id } }
        """
}

extension MonitorCommand {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a monitor, with its first key; prints the address to ping.",
            discussion: "The key is shown now and never again."
        )

        @Argument(help: "What people call it.") var name: String
        @Option(help: "Its name in addresses: small letters, digits, - and _.") var slug: String
        @Option(help: "The name or id of the topic that its incidents are in.", completion: .topicNames)
        var topic: String
        @Option(help: "How often a success must come, in seconds; or --cron.") var every: Int?
        @Option(help: "When a success must come, as a cron line.") var cron: String?
        @Option(help: "The time zone of --cron, such as Europe/Berlin. Default: UTC.") var zone: String?
        @Option(help: "How long it is still waited for, in seconds. Default: 60.") var grace: Int?
        @Option(help: "How long the work may take, in seconds. Default: as long as the grace.") var maxRun: Int?
        @Option(help: "Fail pings in a row until it is down. Default: 1.") var failures: Int?
        @Option(help: "Successes in a row until it is up again. Default: 1.") var successes: Int?
        @Option(help: "Priority of its incidents, 1 to 5. Default: 4.") var priority: Int?
        @Flag(help: "Print the answer as one JSON object.") var json = false
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in
                var input: JSONObject = ["name": .string(name), "slug": .string(slug)]
                input["topicId"] = .string(try await client.topicID(of: .nameOrID(topic)))
                let numbers = [
                    "periodSeconds": every, "graceSeconds": grace, "maxRunSeconds": maxRun, "failures": failures,
                    "successes": successes, "priority": priority,
                ]
                for (field, number) in numbers { if let number { input[field] = .int(Int64(number)) } }
                if let cron { input["cron"] = .string(cron) }
                if let zone { input["timeZone"] = .string(zone) }
                let made = try await client.mutate(addDocument, variables: ["input": .object(input)])
                let id = made["createMonitor"]?["id"]
                try await MonitorCommand.rows.rotateKey(of: id, overlap: 0, json: json, client)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List monitors: slug, state, name, last ping, when the next is due."
        )

        @Flag(help: "One JSON object a line.") var json = false
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in
                try await client.forEachItem(of: "listMonitors", listDocument) {
                    Terminal.print(json ? $0.serializedString() : MonitorCommand.line($0))
                }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a monitor and its last pings.",
            discussion: "Each further line is a ping, the latest first: time, signal, exit status, first line."
        )

        @Argument(help: "The monitor's slug or id.") var monitor: String
        @Option(help: "How many of the last pings, 1 to 100.") var pings = 20
        @Flag(help: "Print it as one JSON object.") var json = false
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in
                let shown = try await MonitorCommand.rows.shown(monitor, last: pings, client)
                if json { return Terminal.print(shown.serializedString()) }
                MonitorCommand.tell(shown)
            }
        }
    }

    struct Key: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a new key; the one before ends after the overlap.",
            discussion: "The key is shown now and never again."
        )

        @Argument(help: "The monitor's slug or id.") var monitor: String
        @Option(help: "How long the key before stays good, in seconds. Default: 86400, a day.") var overlap = 86_400
        @Flag(help: "Print the answer as one JSON object.") var json = false
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in
                let id = JSONValue.string(try await MonitorCommand.rows.id(of: monitor, client))
                try await MonitorCommand.rows.rotateKey(of: id, overlap: overlap, json: json, client)
            }
        }
    }

    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ask for nothing for a time; without a time, until the next ping.",
            discussion: "Its open incident is resolved."
        )

        @Argument(help: "The monitor's slug or id.") var monitor: String
        @Option(help: "Until when, such as 2026-12-01T08:00:00Z.") var until: String?
        @Option(help: "For how many minutes from now.") var minutes: Int?
        @Flag(help: "End the pause.") var end = false
        @OptionGroup var client: ClientOptions

        func validate() throws {
            guard [until != nil, minutes != nil, end].count(where: { $0 }) <= 1 else {
                throw ValidationError("Give one of --until, --minutes and --end.")
            }
        }

        func run() async throws {
            try await client.run { client in
                let id = try await MonitorCommand.rows.id(of: monitor, client)
                let moment = end ? MonitorCommand.time(inMinutes: -1) : minutes.map(MonitorCommand.time) ?? until
                let answer = try await client.mutate(
                    pauseDocument,
                    variables: ["id": .string(id), "until": moment.map { .string($0) } ?? .null]
                )
                let state = answer["pauseMonitor"]?["state"]?.stringValue ?? ""
                Terminal.print("\(Terminal.harmless(monitor))\t\(Terminal.harmless(state))")
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a monitor; its key ends at once.")

        @Argument(help: "The monitor's slug or id.") var monitor: String
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in
                try await MonitorCommand.rows.delete(monitor, telling: "slug", client)
            }
        }
    }
}
