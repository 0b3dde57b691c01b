import JSON
import Testing

/// A notification as the environment has it, and the event that it is.
struct NotificationCase: CustomTestStringConvertible {
    var type: String
    var service: String?
    var state: String
    var action: String
    var title: String
    var priority: Int64?

    var testDescription: String { "\(type) \(service ?? "host") \(state)" }

    /// Both programs' types; states of services and of hosts.
    static let all: [NotificationCase] = [
        .init(
            type: "PROBLEM",
            service: "Disk",
            state: "CRITICAL",
            action: "trigger",
            title: "db-3/Disk is CRITICAL",
            priority: 5
        ),
        .init(
            type: "PROBLEM",
            service: "Disk",
            state: "WARNING",
            action: "trigger",
            title: "db-3/Disk is WARNING",
            priority: 3
        ),
        .init(
            type: "PROBLEM",
            service: "Disk",
            state: "UNKNOWN",
            action: "trigger",
            title: "db-3/Disk is UNKNOWN",
            priority: 4
        ),
        .init(type: "PROBLEM", state: "DOWN", action: "trigger", title: "db-3 is DOWN", priority: 5),
        .init(type: "PROBLEM", state: "UNREACHABLE", action: "trigger", title: "db-3 is UNREACHABLE", priority: 4),
        .init(type: "RECOVERY", service: "Disk", state: "OK", action: "resolve", title: "db-3/Disk is OK"),
        .init(type: "RECOVERY", state: "UP", action: "resolve", title: "db-3 is UP"),
        .init(
            type: "ACKNOWLEDGEMENT",
            service: "Disk",
            state: "CRITICAL",
            action: "acknowledge",
            title: "db-3/Disk: acknowledged by ada"
        ),
        .init(type: "FLAPPINGSTART", state: "UP", action: "log", title: "db-3: flapping has begun", priority: 2),
        .init(type: "FLAPPINGSTOP", state: "UP", action: "log", title: "db-3: flapping has ended", priority: 2),
        .init(type: "FLAPPINGEND", state: "UP", action: "log", title: "db-3: flapping has ended", priority: 2),
        .init(type: "FLAPPINGDISABLED", state: "UP", action: "log", title: "db-3: flap detection is off", priority: 2),
        .init(type: "DOWNTIMESTART", state: "UP", action: "log", title: "db-3: downtime has begun", priority: 2),
        .init(type: "DOWNTIMEEND", state: "UP", action: "log", title: "db-3: downtime has ended", priority: 2),
        .init(type: "DOWNTIMECANCELLED", state: "UP", action: "log", title: "db-3: downtime is cancelled", priority: 2),
        .init(type: "DowntimeRemoved", state: "UP", action: "log", title: "db-3: downtime is cancelled", priority: 2),
        .init(
            type: "CUSTOM",
            service: "Disk",
            state: "OK",
            action: "log",
            title: "db-3/Disk: a note by ada",
            priority: 3
        ),
        .init(type: "TELEPATHY", state: "UP", action: "log", title: "db-3: TELEPATHY", priority: 2),
    ]
}

@Suite("Notification commands of Nagios and Icinga", .timeLimit(.minutes(5)))
struct NotificationCommandTests {
    private static func check(_ each: NotificationCase, _ program: String, prefix: String) async throws {
        try await HostScene.run { host in
            let server = try Receiver { _, _ in 202 }
            let kind = each.service == nil ? "HOST" : "SERVICE"
            var variables = [
                "NOTIFICATIONTYPE": each.type, "HOSTNAME": "db-3", "HOSTADDRESS": "192.0.2.3",
                "\(kind)STATE": each.state, "\(kind)OUTPUT": "91 % used",
                "\(kind)NOTESURL": "https://wiki.example/disk",
                "NOTIFICATIONCOMMENT": "on it", "SERVICEDESC": each.service ?? "$SERVICEDESC$",
            ]
            variables[prefix.isEmpty ? "NOTIFICATIONAUTHORNAME" : "NOTIFICATIONAUTHOR"] = "ada"
            if !prefix.isEmpty { variables["LONG\(kind)OUTPUT"] = #"sda1 91 %\nsdb1 12 %"# }
            let environment = Dictionary(uniqueKeysWithValues: variables.map { (prefix + $0, $1) })
            let result = try await host.tocsin(
                ["event", program, "--spool", host.spool],
                port: server.port,
                environment: environment
            )
            #expect(result == (0, "", ""))
            let event = try #require(server.events.first)
            #expect(event["action"]?.stringValue == each.action)
            #expect(event["title"]?.stringValue == each.title)
            #expect(event["priority"]?.intValue == each.priority)
            #expect(event["url"] == "https://wiki.example/disk")
            let key = each.service.map { "db-3/\($0)" } ?? "db-3"
            #expect(event["key"]?.stringValue == (each.action == "log" ? nil : key))
            let long = prefix.isEmpty ? "" : "sda1 91 %\nsdb1 12 %\n"
            #expect(event["body"]?.stringValue == "91 % used\n\(long)ada: on it")
            var labels = ["host": "db-3", "state": each.state, "address": "192.0.2.3"]
            labels["service"] = each.service
            let said = event["labels"]?.objectValue
            #expect(said?.count == labels.count)
            for (name, value) in labels { #expect(said?[name]?.stringValue == value) }
        }
    }

    @Test("Nagios: each type and state is the event that the page names", arguments: NotificationCase.all)
    func nagios(each: NotificationCase) async throws {
        try await Self.check(each, "nagios", prefix: "NAGIOS_")
    }

    @Test("Icinga: each type and state is the event that the page names", arguments: NotificationCase.all)
    func icinga(each: NotificationCase) async throws {
        try await Self.check(each, "icinga", prefix: "")
    }

    @Test("without the variables the command says where they come from", arguments: ["nagios", "icinga"])
    func missing(program: String) async throws {
        try await HostScene.run { host in
            let result = try await host.tocsin(["event", program, "--spool", host.spool], port: 1)
            #expect(result.status == 2)
            #expect(result.errors.contains("NOTIFICATIONTYPE"))
            #expect(host.waiting().isEmpty)
        }
    }
}
