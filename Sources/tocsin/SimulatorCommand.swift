import ArgumentParser
import FoundationEssentials
import JSON
import TocsinServer
import TocsinSimulator

/// `tocsin simulator`: fake APNs, FCM and token endpoint, in the foreground.
struct SimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulator",
        abstract: "Run fake push providers (APNs, FCM and its token endpoint) on loopback.",
        discussion: """
            Refuses what the real providers refuse and prints each push. The lines printed at the start, pasted into a \
            shell, point a `tocsin serve` started there at the simulator. It runs until SIGINT or SIGTERM. \
            docs/try-every-failure.md has a recipe for each failure, with what the server makes of it.

            EXAMPLES
              tocsin simulator
              tocsin simulator --json | jq -c 'select(.accepted == false)'
              tocsin simulator --directory /tmp/sim --ready-file /tmp/ready
              tocsin simulator --rate apns:TooManyRequests=5% --fcm-per-minute 600

            FAULTS BY DEVICE TOKEN
            A device token that begins with one of these meets the fault. Where a star stands, what follows says how often \
            before it is served as usual: with APNs one digit (5032… fails twice), with FCM a number and a hyphen \
            (unavailable-2-…); without, always. With browsers (webpush) the prefix is the script that POST \
            /_subscribe is given (gone, unavailable-2).

            \(prefixes)

            FAULTS BY RATE AND BY SCRIPT
            --rate PROVIDER:FAULT=SHARE, or rules of a script. The faults of apns are Apple's reasons, as in \
            apns:TooManyRequests. Those of fcm are \(googleFaults). Of both:

            \(wireFaults)

            A script is JSON; each rule takes only what is needed:

              { "rules": [
                  { "provider": "apns", "fault": "TooManyRequests",
                    "token": "a1", "share": "5 %", "skip": 100, "times": 20,
                    "timesPerToken": 1, "forSeconds": 30 },
                  { "provider": "fcm", "fault": "UNAVAILABLE", "retryAfter": 3 },
                  { "provider": "apns", "fault": "goaway", "request": 50,
                    "lastStream": 81, "reason": "Shutdown" },
                  { "provider": "apns", "fault": "Unregistered",
                    "agoSeconds": 86400, "lateSeconds": 4 } ],
                "apns": { "streams": 5, "readBytesPerSecond": 2000,
                          "bundleIds": ["com.example.tocsin"],
                          "providerTokenUpdateSeconds": 1200 },
                "fcm": { "streams": 100, "readBytesPerSecond": null,
                         "messagesPerMinute": 600, "deviceMessagesPerMinute": 240,
                         "deviceMessagesPerHour": 5000, "accessTokenSeconds": 3599 },
                "lateSeconds": 2, "seed": 1 }

            token: how the device's token begins. share: of the pushes it is for. skip, times: let so many through, then \
            meet so many. request: only the n-th push of a connection. retryAfter: seconds, or "date". A share meets the \
            same pushes again for the same seed. Limits that are not named stay; readBytesPerSecond null reads freely.

            CONTROL ADDRESS
            \(control)
            Kinds of outages: \(Outage.allCases.map(\.rawValue).joined(separator: ", ")).

            EXIT STATUS
              0 stopped, 1 failed, 2 wrong use
            """
    )

    @OptionGroup(title: "Where it listens") var listening: SimulatorListening
    @OptionGroup(title: "Whom it knows") var accounts: SimulatorAccounts
    @OptionGroup(title: "What goes wrong") var faults: SimulatorFaults
    @OptionGroup(title: "What it prints and keeps") var output: SimulatorOutput

    func run() async throws {
        let signals = StopSignals()
        var settings = SimulatorSettings(folder: URL(fileURLWithPath: listening.directory).path)
        listening.apply(to: &settings)
        try accounts.apply(to: &settings)
        try faults.apply(to: &settings)
        output.apply(to: &settings)
        let (pushes, arrived) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        if !output.quiet { settings.noticed = { arrived.yield() } }
        let simulator: PushSimulator
        do throws(SimulatorError) {
            simulator = try PushSimulator(settings: settings)
            try announce(try await simulator.start())
        } catch {
            throw CommandFailure(error.description)
        }
        let json = output.json
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

    private func announce(_ addresses: SimulatorAddresses) throws(SimulatorError) {
        let exports = addresses.exports
        if let environmentFile = listening.environmentFile {
            try Self.write(exports.joined(separator: "\n") + "\n", to: environmentFile)
        }
        if let readyFile = listening.readyFile { try Self.write(addresses.json.serializedString(), to: readyFile) }
        guard !output.json else { return Terminal.print(addresses.json.serializedString()) }
        let (apns, fcm, control) = (addresses.apns, addresses.fcm, addresses.control)
        Terminal.print("# Fake push service of browsers at \(addresses.webPush)")
        Terminal.print("# Fake APNs at \(apns), fake FCM at \(fcm), control at \(control)")
        Terminal.print("# Start a server in a shell with these:")
        for line in exports { Terminal.print(line) }
        Terminal.print("# Pushes:")
    }

    /// Whoever waits for the file finds all of it.
    private static func write(_ text: String, to path: String) throws(SimulatorError) {
        do throws(SystemFile.Failure) {
            try SystemFile.replace(path, with: Array(text.utf8), mode: 0o666)
        } catch {
            throw .file(path: path, reason: error.reason)
        }
    }

    private static var prefixes: String {
        ScriptRule.all.map { rule in
            let script = "\(padded(rule.prefix)) \(rule.isCounted ? "*" : " ") \(rule.summary)"
            return "  \(padded(rule.provider.rawValue, 7)) \(script)"
        }.joined(separator: "\n")
    }

    private static var wireFaults: String {
        FaultNames.wireFaults.map { "  \(padded($0.name)) \($0.summary)" }.joined(separator: "\n")
    }

    private static var googleFaults: String {
        let shared = FaultNames.wireFaults.map(\.name)
        return FaultNames.all(of: .fcm).filter { !shared.contains($0) }.joined(separator: ", ")
    }

    private static var control: String {
        ControlHelp.text.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n")
    }

    private static func padded(_ text: String, _ width: Int = 18) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
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
        text = Terminal.harmless(line).replacing("\n", with: " ")
    }
}
