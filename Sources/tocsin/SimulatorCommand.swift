import ArgumentParser
import Foundation
import JSON
import TocsinSimulator

/// `tocsin simulator`: fake APNs, FCM and token endpoint, in the foreground.
struct SimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulator",
        abstract: "Run fake push providers (APNs, FCM and its token endpoint) on loopback.",
        discussion: """
            Refuses what the real providers refuse and prints each push. The lines printed at the start, pasted into a \
            shell, point a `tocsin serve` started there at the simulator. What it saw is also served on the control \
            address: GET /_pushes?since=N, GET /_stats, POST /_reset. It runs until SIGINT or SIGTERM.

            EXAMPLES
              tocsin simulator
              tocsin simulator --json | jq -c 'select(.accepted == false)'
              tocsin simulator --directory /tmp/sim --apns-port 2197 --ready-file /tmp/ready

            SCRIPTED FAULTS
            A device token that begins with one of these meets the fault. Where "often" stands, what follows says how \
            often before it is served as usual: with APNs one digit (5032… fails twice), with FCM a number and a hyphen \
            (unavailable-2-…); without, always.

            \(faults)

            BROWSERS
            POST /_subscribe on the control address answers a browser's subscription, to be registered as the token of \
            the platform web; the service decrypts what is pushed to it. POST /_subscribe?script=NAME makes one whose \
            pushes meet a fault, with NAME-2 twice; its names:

            \(webPushFaults)

            EXIT STATUS
              0 stopped, 1 failed, 2 wrong use
            """
    )

    @Option(help: "Where keys and certificates are kept; made when missing.")
    var directory = "tocsin-simulator"

    @Option(help: "Port of the fake APNs; 0 takes a free one.")
    var apnsPort = 0

    @Option(help: "Port of the fake FCM and its token endpoint; 0 takes a free one.")
    var fcmPort = 0

    @Option(help: "Port of the fake push service of browsers; 0 takes any free one.")
    var webPushPort = 0

    @Option(help: "Port of the control address; 0 takes a free one.")
    var controlPort = 0

    @Option(help: "An app's bundle id that APNs knows; may be given often.")
    var bundleID: [String] = []

    @Option(help: ArgumentHelp("Write the addresses here, as JSON, once all ports are open.", valueName: "path"))
    var readyFile: String?

    @Option(help: ArgumentHelp("Write a server's environment here, as lines for a shell to read.", valueName: "path"))
    var environmentFile: String?

    @Flag(help: "Print the addresses and each push as one line of JSON.")
    var json = false

    @Flag(help: "Check and record nothing: read each push to its end and accept it. For benchmarks.")
    var sink = false

    func validate() throws {
        for port in [apnsPort, fcmPort, webPushPort, controlPort] where !(0...65535).contains(port) {
            throw ValidationError("\(port) is no port. Give a number from 0 to 65535.")
        }
    }

    func run() async throws {
        let signals = StopSignals()
        let (pushes, arrived) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let simulator: PushSimulator
        do throws(SimulatorError) {
            simulator = try PushSimulator(settings: settings { _ in arrived.yield() })
            try announce(try await simulator.start())
        } catch {
            throw CommandFailure(error.description)
        }
        let json = json
        await withTaskGroup { group in
            group.addTask {
                var last: Int64 = 0
                for await _ in pushes {
                    for push in simulator.pushes(since: Int(last)) {
                        last = push["sequence"]?.intValue ?? last
                        Terminal.print(json ? push.serializedString() : PushLine(push).text)
                    }
                }
            }
            await signals.first()
            arrived.finish()
        }
        await simulator.stop()
    }

    private func settings(_ printer: @escaping @Sendable (String) -> Void) -> SimulatorSettings {
        var settings = SimulatorSettings(folder: URL(fileURLWithPath: directory).path)
        settings.apnsPort = apnsPort
        settings.fcmPort = fcmPort
        settings.webPushPort = webPushPort
        settings.controlPort = controlPort
        settings.recording = !sink
        if !bundleID.isEmpty { settings.bundleIDs = bundleID }
        settings.printer = printer
        return settings
    }

    private func announce(_ addresses: SimulatorAddresses) throws(SimulatorError) {
        let exports = addresses.environment.map { "export \($0.name)=\(Self.quoted($0.value))" }
        if let environmentFile { try Self.write(exports.joined(separator: "\n") + "\n", to: environmentFile) }
        if let readyFile { try Self.write(addresses.json.serializedString(), to: readyFile) }
        guard !json else { return Terminal.print(addresses.json.serializedString()) }
        let (apns, fcm, control) = (addresses.apns, addresses.fcm, addresses.control)
        Terminal.print("# Fake push service of browsers at \(addresses.webPush)")
        Terminal.print("# Fake APNs at \(apns), fake FCM at \(fcm), control at \(control)")
        Terminal.print("# Start a server in a shell with these:")
        for line in exports { Terminal.print(line) }
        Terminal.print("# Pushes:")
    }

    /// Whoever waits for the file finds all of it.
    private static func write(_ text: String, to path: String) throws(SimulatorError) {
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw .file(path: path, reason: error.localizedDescription)
        }
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }

    private static var webPushFaults: String {
        WebPushRule.all.map { rule in
            "  \(rule.name.padding(toLength: 13, withPad: " ", startingAt: 0)) \(rule.summary)"
        }.joined(separator: "\n")
    }

    private static var faults: String {
        ScriptRule.all.map { rule in
            let provider = rule.provider.rawValue.padding(toLength: 4, withPad: " ", startingAt: 0)
            let prefix = rule.prefix.padding(toLength: max(16, rule.prefix.count), withPad: " ", startingAt: 0)
            return "  \(provider) \(prefix) \(rule.summary)\(rule.isCounted ? ", often" : "")"
        }.joined(separator: "\n")
    }
}

extension SimulatorAddresses {
    /// All addresses, and the environment of a server that uses them.
    fileprivate var json: JSONValue {
        [
            "apns": .string(apns), "fcm": .string(fcm), "token": .string(token),
            "webPush": .string(webPush), "vapidKey": .string(vapidKey), "control": .string(control),
            "authority": .string(authorityPath),
            "environment": .object(JSONObject(environment.map { ($0.name, .string($0.value)) })),
        ]
    }
}

/// One push for people.
private struct PushLine {
    let text: String

    init(_ push: JSONValue) {
        let provider = push["provider"]?.stringValue ?? "?"
        let status = push["status"]?.intValue ?? 0
        let token = push["token"]?.stringValue ?? ""
        let payload = push["payload"]
        let alert =
            payload?["aps"]?["alert"] ?? payload?["message"]?["notification"] ?? payload?["message"]?["data"]
            ?? payload?["notification"]
        let shown = ["title", "body"].compactMap { alert?[$0]?.stringValue }.filter { !$0.isEmpty }
        let reason = push["reason"]?.stringValue.map { " \($0)" } ?? ""
        let detail = push["detail"]?.stringValue.map { " (\($0))" } ?? ""
        let line = "\(provider) \(status)\(reason)\(detail) to \(token.prefix(8))…: \(shown.joined(separator: " — "))"
        text = Terminal.harmless(line).replacingOccurrences(of: "\n", with: " ")
    }
}
