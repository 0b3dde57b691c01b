import ArgumentParser
import JSON
import TocsinClient

/// What all commands take that do something to an incident.
struct IncidentActOptions: ParsableArguments {
    @Argument(help: "The incident by topic and number, such as alerts#42, or by its id.")
    var incident: String

    @Flag(help: "Print the incident as one JSON object.")
    var json = false

    @OptionGroup var client: ClientOptions

    /// What acts answer with, so that people see what is the case then.
    static let fields = """
        id number state title priority topicId topic { name } acknowledgedAt acknowledgedBy acknowledgedOn snoozedUntil \
        resolvedAt resolvedBy firingCount _version
        """

    /// Runs a mutation on the incident and tells what is the case then.
    func act(_ document: String, field: String, _ more: JSONObject = [:]) async throws {
        try await client.run { client in
            var variables: JSONObject = ["id": .string(try await IncidentReference(incident).id(client))]
            for member in more { variables[member.key] = member.value }
            do {
                // To repeat an act changes nothing.
                let incident = try await client.query(document, variables: variables)[field] ?? .null
                Terminal.print(json ? incident.serializedString() : IncidentWording.standing(incident))
            } catch let error as ClientError where error.code == .conflict {
                throw CommandFailure(Terminal.harmless(error.message))
            }
        }
    }
}

/// What people may say when they take an incident on or end it.
struct IncidentSayingOptions: ParsableArguments {
    @Option(name: [.customShort("m"), .long], help: "What the timeline is to say, at most 4 KiB.")
    var note: String?

    @Option(help: "Where you are, such as laptop, or the id of a device of yours.")
    var on: String?

    /// As the mutations take them.
    var variables: JSONObject {
        ["note": note.map { .string($0) } ?? .null, "on": on.map { .string($0) } ?? .null]
    }
}
