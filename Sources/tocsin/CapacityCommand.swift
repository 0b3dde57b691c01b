import ArgumentParser
import JSON

/// The command `tocsin capacity`: what a load needs, from figures that were measured.
struct CapacityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capacity",
        abstract: "Say what a load needs: cores, memory, disk, files.",
        discussion: """
            The figures are those of docs/capacity.md, measured on two shared cores and doubled.

            EXAMPLE
              tocsin capacity --creates 100 --sockets 5000 --members 20 --keep 30d
            """
    )

    @Option(help: "Messages a second.") var creates: Double = 1
    @Option(help: "Open WebSockets and event streams.") var sockets: Int = 100
    @Option(help: "Devices that get a push for each message.") var members: Int = 10
    @Option(help: "Sockets that get each message. Default: as many as --members.") var listeners: Int?
    @Option(help: "How long messages are kept, such as 30d or 1y. Default: 30d.", transform: Lifetime.read)
    var keep: Lifetime?
    @Option(help: "Bytes of a message.") var bytes: Int = 500
    @Flag(help: "One JSON object.") var json = false

    func validate() throws {
        let numbers: [(option: String, number: Double, most: Double)] = [
            ("--creates", creates, 1_000_000), ("--sockets", Double(sockets), 10_000_000),
            ("--members", Double(members), 10_000_000), ("--listeners", Double(listeners ?? 0), 10_000_000),
            ("--bytes", Double(bytes), 1_000_000),
        ]
        for (option, number, most) in numbers where !(number >= 0 && number <= most) {
            throw ValidationError("\(option) is \(number). Write a number from 0 to \(Int(most)).")
        }
    }

    func run() {
        let plan = CapacityPlan(
            creates: creates,
            sockets: Double(sockets),
            devices: Double(members),
            listeners: Double(listeners ?? members),
            keepSeconds: keep?.seconds ?? 30 * 86_400,
            messageBytes: Double(bytes)
        )
        if json {
            print(JSONValue.object(.init(plan.needs.map { ($0.name, .double($0.value)) })).serializedString())
        } else {
            for need in plan.needs { print("\(need.title): \(need.text)") }
            for remark in plan.remarks { print("- \(remark)") }
        }
    }
}

/// What a load needs.
///
/// Each figure is twice what was measured, so that half of the machine is left.
struct CapacityPlan {
    let creates: Double
    let sockets: Double
    let devices: Double
    let listeners: Double
    let keepSeconds: Double
    let messageBytes: Double

    /// A need: its name in JSON, its title, its value in the unit of its name, and as text.
    struct Need {
        let name: String
        let title: String
        let value: Double
        let text: String
    }

    /// CPU seconds of a message, of a frame to a socket, and of a push, as measured.
    private static let (create, frame, push) = (60e-6, 9.4e-6, 21e-6)
    /// Bytes of an idle socket, of a message beside its texts, and of a delivery.
    private static let (socket, message, delivery) = (9400.0, 400.0, 200.0)
    /// The program itself with its cached plans, and what one in a hundred slow readers may hold.
    private static let (program, slowReader) = (300e6, 1_048_576.0)
    /// Messages a second that one SQLite file takes with room to spare.
    private static let mostOfSQLite = 10_000.0
    /// Pushes a minute that a Firebase project has to begin with.
    private static let quota = 600_000.0
    private static let deliverySeconds = 7 * 86_400.0

    var cores: Double {
        2 * creates * (Self.create + listeners * Self.frame + devices * Self.push)
    }

    var memory: Double { Self.program + sockets * Self.socket + sockets / 100 * Self.slowReader }

    var disk: Double {
        let messages = keepSeconds * (messageBytes + Self.message)
        let deliveries = min(keepSeconds, Self.deliverySeconds) * devices * Self.delivery
        return creates * (messages + deliveries)
    }

    var files: Double { sockets + 500 }

    var needs: [Need] {
        [
            Need(name: "cores", title: "Cores", value: cores, text: shown(cores)),
            Need(name: "memoryBytes", title: "Memory", value: memory, text: shown(memory / 1e6) + " MB"),
            Need(name: "diskBytes", title: "Disk", value: disk, text: shown(disk / 1e9) + " GB"),
            Need(name: "openFiles", title: "Open files", value: files, text: "\(Int(files))"),
            Need(
                name: "pushesPerMinute",
                title: "Pushes a minute",
                value: creates * devices * 60,
                text: shown(creates * devices * 60)
            ),
        ]
    }

    var remarks: [String] {
        var remarks = [
            creates > Self.mostOfSQLite
                ? "One SQLite file takes \(Int(Self.mostOfSQLite)) messages a second. Use PostgreSQL, and several nodes."
                : "SQLite on one machine is enough. PostgreSQL lets the service outlive a machine."
        ]
        if sockets > 4096 {
            remarks.append(
                "Set TOCSIN_CONNECTIONS to \(Int(files)), and LimitNOFILE of the service to at least twice that."
            )
        }
        if creates * devices * 60 > Self.quota {
            remarks.append("Firebase lets a project send 600000 pushes a minute. Ask Google for more.")
        }
        return remarks
    }

    private func shown(_ value: Double) -> String {
        guard value < 100 else { return "\(Int(value.rounded()))" }
        let hundredths = max(value > 0 ? 1 : 0, Int((value * 100).rounded()))
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}
