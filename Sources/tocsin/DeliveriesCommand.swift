import ArgumentParser
import JSON
import TocsinClient

/// `tocsin deliveries`: what became of a message's pushes.
struct DeliveriesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliveries",
        abstract: "List what became of a message's pushes, device by device.",
        discussion: """
            A line for each device of the message's audience: status, platform, user, device, attempts and the reason; \
            then their counts. Why nothing was sent is a line too: SKIPPED, with its reason.

            EXAMPLES
              tocsin deliveries 5f0c… --status FAILED
              tocsin deliveries 5f0c… --json | jq -r 'select(.status == "ENDED") | .reason'

            EXIT STATUS
              0 listed, 1 failed, 2 wrong use
            """
    )

    @Argument(help: "The message's id, as `tocsin publish` prints it.")
    var message: String

    @Option(help: "Only deliveries in this state: \(DeliveryStates.list).")
    var status: String?

    @OptionGroup var client: ClientOptions

    @Flag(help: "Print one JSON object a line and no counts.")
    var json = false

    static let document = """
        query Deliveries($id: ID!, $status: DeliveryStatus, $next: String) {
          getMessage(id: $id) {
            deliveries(status: $status, limit: 500, nextToken: $next) {
              nextToken
              items {
                id status platform userId reason attempts nextAttemptAt providerId updatedAt
                device { id name appId environment token active }
              }
            }
            deliverySummary { \(DeliveryStates.counts) }
          }
        }
        """

    func validate() throws { try DeliveryStates.check(status, among: DeliveryStates.all) }

    func run() async throws {
        try await client.run { client in
            var next = JSONValue.null
            repeat {
                let variables: JSONObject = [
                    "id": .string(message), "status": status.map { .string($0.uppercased()) } ?? .null, "next": next,
                ]
                let answer = try await client.query(Self.document, variables: variables)["getMessage"]
                guard let answer, let page = answer["deliveries"] else {
                    throw CommandFailure("There is no message \(Terminal.harmless(message)), or it is not yours.")
                }
                for item in page["items"]?.arrayValue ?? [] {
                    Terminal.print(json ? item.serializedString() : Self.line(item))
                }
                next = page["nextToken"] ?? .null
                if next == .null, !json { Terminal.print(DeliveryStates.line(answer["deliverySummary"])) }
            } while next != .null
        }
    }

    private static func line(_ item: JSONValue) -> String {
        func text(_ value: JSONValue?) -> String { value?.stringValue ?? "-" }
        let attempts = item["attempts"]?.intValue ?? 0
        let device = item["device"]?["name"]?.stringValue ?? text(item["device"]?["id"])
        let words = [
            text(item["status"]), text(item["platform"]), text(item["userId"]), device, "\(attempts)",
            text(item["reason"] == .null ? item["providerId"] : item["reason"]), text(item["updatedAt"]),
        ]
        return words.map(Terminal.harmless).joined(separator: "\t")
    }
}

/// The states of deliveries as commands name them.
enum DeliveryStates {
    static let all = ["WAITING", "SENDING", "ACCEPTED", "FAILED", "ENDED", "EXPIRED", "SKIPPED"]
    static let list = all.joined(separator: ", ")
    /// The fields of a summary.
    static let counts = "waiting accepted failed ended expired skipped"

    static func check(_ status: String?, among allowed: [String]) throws {
        guard let status, !allowed.contains(status.uppercased()) else { return }
        throw ValidationError("--status \(status) is none of \(allowed.joined(separator: ", ")).")
    }

    /// Counts on one line.
    static func line(_ summary: JSONValue?) -> String {
        counts.split(separator: " ").map { "\($0) \(summary?[String($0)]?.intValue ?? 0)" }.joined(separator: ", ")
    }
}
