import ArgumentParser
import JSON
import TocsinCore
import TocsinServer

/// `tocsin import-devices`: takes in the device tables of Django's push notifications.
struct ImportDevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-devices",
        abstract: "Take in the devices of another push service from a table in CSV.",
        discussion: """
            The first row names the columns: registration_id and user_id; and active, device_id, name, application_id and \
            date_created where they are there. Other columns are left out. A user_id is the name of a local user, else the \
            user's id as their tokens have it (sub).

            Rows are checked as an app's registration is. A row that cannot be taken is told with its line, and the others \
            are taken all the same. A device that is here already stays as it is, so that a repeat changes nothing. The \
            server may be running.

            EXAMPLES
              psql -c "COPY push_notifications_apnsdevice TO STDOUT CSV HEADER" > apnsdevice.csv
              tocsin import-devices apnsdevice.csv --dry-run
              tocsin import-devices apnsdevice.csv
              tocsin import-devices gcmdevice.csv

            EXIT STATUS
              0 every row is here, 1 rows were refused or it failed, 2 wrong use
            """
    )

    @Argument(help: "The file.")
    var file: String

    @Option(help: "ios or android; the columns or the file's name tell it unless given.")
    var platform: String?

    @Flag(name: .customLong("dry-run"), help: "Check every row, and change nothing.")
    var isDry = false

    @Flag(help: "Print the counts as one JSON object.")
    var json = false

    @Flag(name: .shortAndLong, help: "Do not say how far it is.")
    var quiet = false

    @OptionGroup var store: StoreOptions

    func validate() throws {
        guard let platform else { return }
        guard ["ios", "android"].contains(platform) else {
            throw ValidationError("--platform \(platform) is neither ios nor android.")
        }
    }

    func run() async throws {
        var request = DeviceImportRequest(path: file)
        request.platform = platform.flatMap(PushPlatform.init(rawValue:))
        request.isDry = isDry
        let wanted = request
        var refused = 0
        try await OfflineStore.run(store) { tool throws(ServiceError) in
            let counts = try await tool.importDevices(wanted, news: tell)
            refused = counts.refused
            Terminal.print(json ? object(counts) : sentence(counts))
        }
        guard refused == 0 else { throw ExitCode(1) }
    }

    private func tell(_ news: DeviceImportNews) {
        switch news {
        case .refused(let line, let reason): Terminal.remark("\(file):\(line): \(Terminal.harmless(reason))")
        case .ignored(let columns):
            Terminal.remark("columns left out: \(Terminal.harmless(columns.prefix(20).joined(separator: ", ")))")
        case .progress(let counts):
            if !quiet { Terminal.remark(sentence(counts)) }
        }
    }

    private func sentence(_ counts: DeviceImportCounts) -> String {
        "\(counts.rows) \(counts.rows == 1 ? "row" : "rows"): \(counts.added) \(isDry ? "to be added" : "added"), \(counts.known) here already, "
            + "\(counts.refused) refused"
    }

    private func object(_ counts: DeviceImportCounts) -> String {
        JSONValue.object([
            "rows": .int(Int64(counts.rows)), "added": .int(Int64(counts.added)), "known": .int(Int64(counts.known)),
            "refused": .int(Int64(counts.refused)), "dryRun": .bool(isDry),
        ]).serializedString()
    }
}
