import ArgumentParser
import JSON
import TocsinClient

/// `tocsin incidents`: what is wrong now.
struct IncidentsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "incidents",
        abstract: "List incidents: those that are not resolved, the newest first.",
        discussion: """
            A line for each: name, state, priority, when it was opened, who has it, title. The name is what the other \
            commands take: tocsin ack alerts#42.

            EXAMPLES
              tocsin incidents
              tocsin incidents --state open --topic alerts
              tocsin incidents --state all --json | jq -r .title

            EXIT STATUS
              0 done, also where there is none; 1 failed; 2 wrong use
            """
    )

    @Option(help: "open, acknowledged, snoozed, resolved or all. Default: all but resolved.")
    var state: String?

    @Option(help: "Only those of this topic: its name or id.", completion: .topicNames)
    var topic: String?

    @Option(help: "At most so many of each state.")
    var limit = 100

    @Flag(help: "Print each incident as one line of JSON.")
    var json = false

    @OptionGroup var client: ClientOptions

    static let document = """
        query ListIncidentsHere(
          $state: IncidentState!, $filter: ModelIncidentFilterInput, $limit: Int, $next: String
        ) {
          incidentsByStateAndOpenedAt(
            state: $state, sortDirection: DESC, filter: $filter, limit: $limit, nextToken: $next
          ) {
            nextToken
            items {
              id number state title body priority url key topicId topic { name } openedAt lastEventAt occurrences
              acknowledgedAt acknowledgedBy acknowledgedOn snoozedUntil resolvedAt resolvedBy resolvedVia alertCount
              firingCount flapping _version _deleted
            }
          }
        }
        """

    private static let states = ["OPEN", "ACKNOWLEDGED", "SNOOZED", "RESOLVED"]
    private static let pageSize = 100

    private var wanted: [String] {
        switch state?.uppercased() {
        case nil: Self.states.dropLast()
        case "ALL"?: Self.states
        case let state?: [state]
        }
    }

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit \(limit) is less than 1.") }
        guard wanted.allSatisfy(Self.states.contains) else {
            throw ValidationError(
                "--state is \"\(Terminal.harmless(state ?? ""))\". Write open, acknowledged, snoozed, resolved or all."
            )
        }
    }

    func run() async throws {
        try await client.run { client in
            var filter = JSONValue.null
            if let topic { filter = ["topicId": ["eq": .string(try await client.topicID(of: .nameOrID(topic)))]] }
            var found: [JSONValue] = []
            for state in wanted { found += try await incidents(in: state, filter, client) }
            // Moments of one form are in the order of their texts.
            found.sort { ($0["openedAt"]?.stringValue ?? "") > ($1["openedAt"]?.stringValue ?? "") }
            for incident in found {
                Terminal.print(json ? incident.serializedString() : IncidentWording.line(incident))
            }
        }
    }

    private func incidents(in state: String, _ filter: JSONValue, _ client: TocsinClient) async throws -> [JSONValue] {
        var found: [JSONValue] = []
        var next = JSONValue.null
        repeat {
            let size = min(Self.pageSize, limit - found.count)
            let answer = try await client.query(
                Self.document,
                variables: ["state": .string(state), "filter": filter, "limit": .int(Int64(size)), "next": next]
            )
            let page = answer["incidentsByStateAndOpenedAt"]
            found += (page?["items"]?.arrayValue ?? []).filter { $0["_deleted"]?.boolValue != true }
            next = page?["nextToken"] ?? .null
        } while next != .null && found.count < limit
        if next != .null { Terminal.remark("There are more that are \(state); --limit shows more than \(limit).") }
        return found
    }
}
