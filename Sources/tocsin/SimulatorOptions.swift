import ArgumentParser
import JSON
import TocsinServer
import TocsinSimulator

/// Where the simulator listens, and what it writes.
struct SimulatorListening: ParsableArguments {
    @Option(help: "Where keys and certificates are kept; made when missing.")
    var directory = "tocsin-simulator"

    @Option(help: "Port of the fake APNs; 0 takes a free one.")
    var apnsPort = 0

    @Option(help: "Port of the fake FCM and its token endpoint; 0 takes a free one.")
    var fcmPort = 0

    @Option(help: "Port of the fake push service of browsers; 0 takes a free one.")
    var webPushPort = 0

    @Option(help: "Port of the control address; 0 takes a free one.")
    var controlPort = 0

    @Option(help: ArgumentHelp("Write the addresses here, as JSON, once all ports are open.", valueName: "path"))
    var readyFile: String?

    @Option(help: ArgumentHelp("Write a server's environment here, as lines for a shell to read.", valueName: "path"))
    var environmentFile: String?

    @Flag(help: "Speak HTTP/2 without TLS.")
    var clearText = false

    @Option(help: "Threads that serve connections.")
    var threads = 1

    func validate() throws {
        for port in [apnsPort, fcmPort, webPushPort, controlPort] where !(0...65535).contains(port) {
            throw ValidationError("\(port) is no port. Give a number from 0 to 65535.")
        }
        guard (1...64).contains(threads) else { throw ValidationError("Give 1 to 64 threads.") }
    }

    func apply(to settings: inout SimulatorSettings) {
        settings.apnsPort = apnsPort
        settings.fcmPort = fcmPort
        settings.webPushPort = webPushPort
        settings.controlPort = controlPort
        settings.tls = !clearText
        settings.threads = threads
    }
}

/// The teams, keys, apps and projects the simulator knows.
struct SimulatorAccounts: ParsableArguments {
    @Option(help: "An app's bundle id that APNs knows; may be given often.")
    var bundleID: [String] = []

    @Option(help: ArgumentHelp("The team that provider tokens name.", valueName: "id"))
    var teamID: String?

    @Option(help: ArgumentHelp("The key that provider tokens name.", valueName: "id"))
    var keyID: String?

    @Option(
        help: ArgumentHelp(
            "Another key, signed with the same .p8: its team, its id, its bundle ids with commas, and development or "
                + "production if it is for one of them. May be given often.",
            valueName: "team/key/bundles[/environment]"
        )
    )
    var otherKey: [String] = []

    @Option(help: ArgumentHelp("The Firebase project.", valueName: "id"))
    var projectID: String?

    @Flag(help: "Be Apple's production side, not the development side.")
    var production = false

    func validate() throws {
        for text in otherKey { _ = try Self.key(text) }
    }

    func apply(to settings: inout SimulatorSettings) throws {
        if !bundleID.isEmpty { settings.bundleIDs = bundleID }
        if let teamID { settings.teamID = teamID }
        if let keyID { settings.keyID = keyID }
        if let projectID { settings.projectID = projectID }
        settings.development = !production
        settings.otherKeys = try otherKey.map(Self.key)
    }

    private static func key(_ text: String) throws -> SimulatedKey {
        let parts = text.split(separator: "/").map(String.init)
        let side = parts.count == 4 ? parts[3] : nil
        guard (3...4).contains(parts.count), side == nil || side == "development" || side == "production" else {
            throw ValidationError("\(text) is not of the form TEAM/KEY/BUNDLE,BUNDLE or TEAM/KEY/BUNDLE/production.")
        }
        return SimulatedKey(
            teamID: parts[0],
            keyID: parts[1],
            bundleIDs: parts[2].split(separator: ",").map(String.init),
            development: side.map { $0 == "development" }
        )
    }
}

/// What goes wrong from the start.
struct SimulatorFaults: ParsableArguments {
    @Option(help: ArgumentHelp("A script of rules and limits, as POST /_script takes it.", valueName: "path"))
    var script: String?

    @Option(
        help: ArgumentHelp(
            "A fault for a share of all pushes, as in apns:TooManyRequests=5%; may be given often.",
            valueName: "provider:fault=share"
        )
    )
    var rate: [String] = []

    @Option(help: "Messages the Firebase project may send in a minute.")
    var fcmPerMinute: Int?

    @Option(help: "Messages one Android device may be sent in a minute.")
    var fcmDevicePerMinute: Int?

    @Option(help: "Messages one Android device may be sent in an hour.")
    var fcmDevicePerHour: Int?

    @Option(help: "Life of the access tokens given out, in seconds.")
    var accessTokenSeconds: Int?

    @Option(help: "Time until a connection of APNs may bring another provider token, in seconds.")
    var providerTokenSeconds: Int?

    @Option(help: "Streams a connection may have at once.")
    var streams: Int?

    @Option(help: "How late the slow answers come, in seconds.")
    var lateSeconds: Double?

    /// As in scripts.
    private static let maximum = 1_000_000_000

    func validate() throws {
        _ = try wholeScript()
        for number in [fcmPerMinute, fcmDevicePerMinute, fcmDevicePerHour, accessTokenSeconds, providerTokenSeconds] {
            guard (0...Self.maximum).contains(number ?? 0) else {
                throw ValidationError("Quotas and times are from 0 to \(Self.maximum).")
            }
        }
        guard (1...Int(Int32.max)).contains(streams ?? 1) else { throw ValidationError("Give at least one stream.") }
        guard (0...Double(Self.maximum)).contains(lateSeconds ?? 0) else {
            throw ValidationError("Answers come 0 to \(Self.maximum) seconds late.")
        }
    }

    func apply(to settings: inout SimulatorSettings) throws {
        settings.script = try wholeScript()
        settings.fcmMessagesPerMinute = fcmPerMinute
        settings.fcmDeviceMessagesPerMinute = fcmDevicePerMinute
        settings.fcmDeviceMessagesPerHour = fcmDevicePerHour
        if let accessTokenSeconds { settings.accessTokenSeconds = accessTokenSeconds }
        if let providerTokenSeconds { settings.providerTokenUpdateSeconds = providerTokenSeconds }
        if let streams { settings.maximumStreams = streams }
        if let lateSeconds { settings.slowAnswerSeconds = lateSeconds }
    }

    /// The file's rules, and after them one for each rate.
    private func wholeScript() throws -> SimulatorScript? {
        guard script != nil || !rate.isEmpty else { return nil }
        do {
            var object: JSONObject = [:]
            if let script {
                let bytes = try SystemFile.contents(of: script, maximumBytes: 64 << 20)
                _ = try SimulatorScript(text: bytes)
                object = try JSONParser.parse(bytes).objectValue ?? [:]
            }
            let rates = try rate.map(SimulatorScript.rate)
            if !rates.isEmpty { object["rules"] = .array((object["rules"]?.arrayValue ?? []) + rates) }
            return try SimulatorScript(.object(object))
        } catch let error as ScriptError {
            throw ValidationError(error.description)
        } catch let failure as SystemFile.Failure {
            throw ValidationError("\(script ?? "The script") cannot be read: \(failure.reason).")
        } catch {
            throw ValidationError("\(script ?? "The script") cannot be read: \(error)")
        }
    }
}

/// What the simulator prints and remembers.
struct SimulatorOutput: ParsableArguments {
    @Flag(help: "Print the addresses and each push as one line of JSON.")
    var json = false

    @Flag(help: "Print the addresses and no pushes.")
    var quiet = false

    @Flag(help: "Check and record nothing: read each push to its end and accept it. For benchmarks.")
    var sink = false

    @Option(help: "How many pushes are kept for GET /_pushes; counts and screens are kept beside them.")
    var records = 50_000

    func validate() throws {
        guard (0...5_000_000).contains(records) else { throw ValidationError("Keep 0 to 5,000,000 pushes.") }
    }

    func apply(to settings: inout SimulatorSettings) {
        settings.recording = !sink
        settings.maximumRecords = records
    }
}
