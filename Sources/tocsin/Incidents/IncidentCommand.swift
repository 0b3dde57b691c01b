import ArgumentParser
import JSON
import TocsinClient

/// `tocsin incident`: all that is known of one.
struct IncidentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "incident",
        abstract: "Show an incident: its facts, its alerts and its timeline.",
        discussion: """
            Facts come first, a line each. Then a line for each alert: state, since when, title. Then the timeline: \
            number, time, change, by what way, what happened.

            EXAMPLES
              tocsin incident alerts#42
              tocsin incident alerts#42 --json | jq .timeline

            EXIT STATUS
              0 done, 1 failed, 2 wrong use
            """
    )

    @Argument(help: "The incident by topic and number, such as alerts#42, or by its id.")
    var incident: String

    @Option(help: "At most so many alerts.")
    var alerts = 100

    @Flag(help: "Print it as one JSON object.")
    var json = false

    @OptionGroup var client: ClientOptions

    static let documents = [showDocument, alertsDocument, timelineDocument]

    private static let showDocument = """
        query ShowIncident($id: ID!) {
          getIncident(id: $id) {
            id number state title body priority url key topicId topic { name } integrationId openedAt lastEventAt
            occurrences acknowledgedAt acknowledgedBy acknowledgedVia acknowledgedOn assignee snoozedUntil
            senderResolvedAt resolvedAt resolvedBy resolvedVia alertCount firingCount truncatedCount flapping labels
            data _version _deleted
          }
        }
        """
    private static let alertsDocument = """
        query IncidentAlertsHere($id: ID!, $limit: Int, $next: String) {
          getIncident(id: $id) {
            page: alerts(limit: $limit, nextToken: $next) {
              nextToken items { fingerprint state title labels url startsAt endsAt }
            }
          }
        }
        """
    private static let timelineDocument = """
        query IncidentTimelineHere($id: ID!, $limit: Int, $next: String) {
          getIncident(id: $id) {
            page: timeline(limit: $limit, nextToken: $next) {
              nextToken items { number at change by via on text messageId }
            }
          }
        }
        """

    private static let pageSize = 100
    /// Timelines have no more.
    private static let maximumEntries = 1000

    func validate() throws {
        guard alerts >= 0 else { throw ValidationError("--alerts \(alerts) is less than 0.") }
    }

    func run() async throws {
        try await client.run { client in
            let id = try await IncidentReference(incident).id(client)
            let answer = try await client.query(Self.showDocument, variables: ["id": .string(id)])
            guard let found = answer["getIncident"], let members = found.objectValue else {
                throw CommandFailure("The incident is gone.")
            }
            let shown = try await Self.items(Self.alertsDocument, of: id, limit: alerts, client)
            let entries = try await Self.items(Self.timelineDocument, of: id, limit: Self.maximumEntries, client)
            guard !json else {
                var object = members
                (object["alerts"], object["timeline"]) = (.array(shown), .array(entries))
                return Terminal.print(JSONValue.object(object).serializedString())
            }
            for line in IncidentWording.lines(found, alerts: shown, entries: entries) { Terminal.print(line) }
            let more = (found["alertCount"]?.intValue ?? 0) - Int64(shown.count)
            if more > 0 { Terminal.remark("There are \(more) more alerts; --alerts shows more than \(alerts).") }
        }
    }

    private static func items(
        _ document: String,
        of id: String,
        limit: Int,
        _ client: TocsinClient
    ) async throws -> [JSONValue] {
        var items: [JSONValue] = []
        var next = JSONValue.null
        while items.count < limit {
            let size = min(pageSize, limit - items.count)
            let answer = try await client.query(
                document,
                variables: ["id": .string(id), "limit": .int(Int64(size)), "next": next]
            )
            let page = answer["getIncident"]?["page"]
            items += page?["items"]?.arrayValue ?? []
            next = page?["nextToken"] ?? .null
            if next == .null { break }
        }
        return items
    }
}
