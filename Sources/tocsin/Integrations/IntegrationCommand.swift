import ArgumentParser
import JSON
import TocsinClient
import TocsinCore

/// The commands `tocsin integration add | list | show | set | key | revoke | delete`.
struct IntegrationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "integration",
        abstract: "Look after ways in: an address and a key for each sender.",
        discussion: """
            EXAMPLES
              tocsin integration add "Alertmanager eu1" --kind alertmanager --topic alerts
              tocsin integration list
              tocsin integration show "Alertmanager eu1" --recent 5
              tocsin integration set "Alertmanager eu1" --route 'team=db -> databases priority 5'
              tocsin integration key "Alertmanager eu1" --overlap 3600
              tocsin integration revoke "Alertmanager eu1" abcd
            """,
        subcommands: [Add.self, List.self, Show.self, Set.self, Key.self, Revoke.self, Delete.self]
    )

    static let documents = [
        addDocument, listDocument, showDocument, setDocument, byNameDocument, keyDocument, revokeDocument,
        deleteDocument,
    ]

    static let addDocument = """
        mutation AddIntegration($input: CreateIntegrationInput!) { createIntegration(input: $input) { id name kind } }
        """
    static let listDocument = """
        query ListIntegrationsHere($next: String) {
          listIntegrations(limit: 100, nextToken: $next) {
            nextToken items { id name kind topicId keyHint lastEventAt events refused trouble _deleted }
          }
        }
        """
    static let showDocument = """
        query ShowIntegration($id: ID!, $recent: Int) {
          getIntegration(id: $id) {
            id name kind topicId receiver enabled grouping allowHttpActions url keyHints secrets lastEventAt events refused
            unmatchedResolves trouble _version _deleted
            recent(limit: $recent) { at status outcome incidentId messageId body }
            routes { match topicId priority } snsTopics
          }
        }
        """
    static let setDocument = """
        mutation SetIntegration($input: UpdateIntegrationInput!) {
          updateIntegration(input: $input) { id routes { match topicId priority } snsTopics }
        }
        """
    static let byNameDocument = """
        query IntegrationsNamed($name: String!) {
          integrationsByName(name: $name, limit: 10) { items { id _deleted } }
        }
        """
    static let keyDocument = """
        mutation RotateIntegrationKey($id: ID!, $overlap: Int) {
          rotateIntegrationKey(id: $id, overlapSeconds: $overlap) { key url snippets integration { id name kind } }
        }
        """
    static let revokeDocument = """
        mutation RevokeIntegrationKey($id: ID!, $hint: String!) {
          revokeIntegrationKey(id: $id, hint: $hint) { id keyHints }
        }
        """
    static let deleteDocument = """
        mutation DeleteIntegrationHere($input: DeleteIntegrationInput!) { deleteIntegration(input: $input) { id } }
        """
}

extension IntegrationCommand {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a way in, with its first key; prints what to paste at the sender.",
            discussion: "The key is shown now and never again."
        )

        @Argument(help: "What people call it.") var name: String
        @Option(
            help:
                "alertmanager, grafana, pagerduty, ntfy, gotify, slack, cloudevents, heartbeat, event, mail or template."
        )
        var kind: String
        @Option(help: "The topic's name or id.", completion: .topicNames) var topic: String
        @Option(help: "For template: the name of a receiver that ships.") var receiver: String?
        @Option(help: "For template: a file with a template of your own.") var template: String?
        @Option(help: "What becomes one incident: group, alert or none.") var grouping: String?
        @Option(help: "Priority of events that say none, 1 to 5. Default: 4.") var priority: Int?
        @Option(help: "An address or network that may post; repeat it for more. Default: all.")
        var from: [String] = []
        @Flag(
            name: .customLong("allow-http-actions"),
            help: "For ntfy: buttons of kind http have the server make their call."
        ) var allowHTTPActions = false
        @Flag(help: "Print the answer as one JSON object.") var json = false
        @OptionGroup var ways: IntegrationWays
        @OptionGroup var client: ClientOptions

        func validate() throws {
            try Self.check(kind, of: "--kind", among: Integration.Kind.allCases)
            if let grouping { try Self.check(grouping, of: "--grouping", among: Integration.Grouping.allCases) }
        }

        private static func check<Case: RawRepresentable<String>>(
            _ word: String,
            of option: String,
            among cases: [Case]
        ) throws {
            let words = cases.map { $0.rawValue.lowercased() }
            guard !words.contains(word.lowercased()) else { return }
            let names = words.dropLast().joined(separator: ", ") + " and \(words.last ?? "")"
            throw ValidationError("\(option) \(word) is not one of \(names).")
        }

        func run() async throws {
            try await client.run { client in
                var input: JSONObject = ["name": .string(name), "kind": .string(kind.uppercased())]
                input["topicId"] = .string(try await client.topicID(of: .nameOrID(topic)))
                if let receiver { input["receiver"] = .string(receiver) }
                if let template { input["template"] = .string(try IntegrationCommand.text(of: template)) }
                if let grouping { input["grouping"] = .string(grouping.uppercased()) }
                if let priority { input["defaultPriority"] = .int(Int64(priority)) }
                if allowHTTPActions { input["allowHttpActions"] = true }
                if !from.isEmpty { input["allowedAddresses"] = .array(from.map { .string($0) }) }
                for member in try await ways.input(client) { input[member.key] = member.value }
                let made = try await client.mutate(addDocument, variables: ["input": .object(input)])
                let id = made["createIntegration"]?["id"]
                try await IntegrationCommand.rows.rotateKey(of: id, overlap: 0, json: json, client)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List ways in: id, kind, name, events, last event, what its key begins with."
        )

        @Flag(help: "One JSON object a line.") var json = false
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in
                try await client.forEachItem(of: "listIntegrations", listDocument) {
                    Terminal.print(json ? $0.serializedString() : IntegrationCommand.line($0))
                }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a way in, what came in, and its last requests.",
            discussion: "Each further line is a request, the latest first: time, status, what became of it."
        )

        @Argument(help: "The integration's name or id.") var integration: String
        @Option(help: "How many of the last requests, 1 to 100.") var recent = 20
        @Flag(help: "Print it as one JSON object.") var json = false
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in
                let shown = try await IntegrationCommand.rows.shown(integration, last: recent, client)
                if json { return Terminal.print(shown.serializedString()) }
                KeyedRows.tell(
                    [
                        "id", "name", "kind", "topicId", "allowHttpActions", "url", "events", "refused", "lastEventAt",
                        "trouble",
                    ],
                    of: shown
                )
                for route in try await IntegrationWays.routes(of: shown, client) {
                    Terminal.print("route\t\(Terminal.harmless(route))")
                }
                for topic in shown["snsTopics"]?.arrayValue ?? [] {
                    Terminal.print("snsTopic\t\(Terminal.harmless(topic.stringValue ?? ""))")
                }
                for request in shown["recent"]?.arrayValue ?? [] {
                    let words = [
                        request["at"]?.stringValue ?? "", request["status"]?.serializedString() ?? "",
                        request["outcome"]?.stringValue ?? "",
                    ]
                    Terminal.print(words.map(Terminal.harmless).joined(separator: "\t"))
                }
            }
        }
    }

    struct Key: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a new key; the one before ends after the overlap.",
            discussion: "The key is shown now and never again."
        )

        @Argument(help: "The integration's name or id.") var integration: String
        @Option(help: "How long the key before stays good, in seconds. Default: 86400, a day.") var overlap = 86_400
        @Flag(help: "Print the answer as one JSON object.") var json = false
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in
                let id = JSONValue.string(try await IntegrationCommand.rows.id(of: integration, client))
                try await IntegrationCommand.rows.rotateKey(of: id, overlap: overlap, json: json, client)
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "End a key at once.")

        @Argument(help: "The integration's name or id.") var integration: String
        @Argument(help: "The four characters that the key begins with.") var hint: String
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in
                let id = try await IntegrationCommand.rows.id(of: integration, client)
                _ = try await client.mutate(revokeDocument, variables: ["id": .string(id), "hint": .string(hint)])
                Terminal.print("revoked \(Terminal.harmless(hint))")
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a way in; its keys end at once.")

        @Argument(help: "The integration's name or id.") var integration: String
        @OptionGroup var client: ClientOptions

        func run() async throws {
            try await client.run { client in
                try await IntegrationCommand.rows.delete(integration, telling: "id", client)
            }
        }
    }
}
