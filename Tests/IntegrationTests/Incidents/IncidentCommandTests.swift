import Foundation
import JSON
import Testing

@Suite("Incidents from the command line", .timeLimit(.minutes(5)))
struct IncidentCommandTests {
    private typealias Result = (status: Int32, output: String, errors: String)

    private static func trigger(_ key: String, _ title: String) -> String {
        #"{"action":"trigger","key":"\#(key)","title":"\#(title)","body":"91 %","severity":"critical"}"#
    }

    @Test("an incident is listed, shown, taken on, snoozed, noted and resolved by its topic and number")
    func walk() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let way = try await scene.way("EVENT")
            func run(_ arguments: String...) async throws -> Result {
                try await installation.tocsin(arguments, token: scene.ada)
            }
            #expect(try await run("incidents") == (0, "", ""))
            for (key, title) in [("db-1", "Disk full"), ("db-2", "Disk slow")] {
                let answer = try await scene.post("/in/\(way.key)", Self.trigger(key, title))
                #expect((200..<300).contains(answer.status), "\(answer.body)")
            }
            let listed = try await run("incidents", "--topic", "alerts")
            let lines = listed.output.split(separator: "\n").map { $0.split(separator: "\t") }
            #expect(lines.map(\.first) == ["alerts#2", "alerts#1"], "\(listed)")
            #expect(lines.last?[1] == "OPEN" && lines.last?.last == "Disk full")

            let taken = try await run("ack", "alerts#1", "-m", "on my way", "--on", "laptop")
            #expect(taken.output == "alerts#1 is ACKNOWLEDGED by ada (laptop): Disk full\n", "\(taken)")
            let again = try await run("ack", "alerts#1")
            #expect(again.status == 0 && again.output == taken.output, "to repeat it changes nothing")
            let open = try await run("incidents", "--state", "open")
            #expect(open.output.hasPrefix("alerts#2\t") && open.output.split(separator: "\n").count == 1, "\(open)")
            let noted = try await run("note", "alerts#1", "the disk is on its way")
            #expect(noted.output == "3\n", "\(noted)")
            let snoozed = try await run("snooze", "alerts#1", "1h", "--json")
            #expect(try JSONParser.parse(snoozed.output)["state"] == "SNOOZED", "\(snoozed)")
            let resolved = try await run("resolve", "alerts#1")
            #expect(resolved.output == "alerts#1 is RESOLVED by ada: Disk full\n", "\(resolved)")

            let shown = try await run("incident", "alerts#1")
            #expect(shown.output.contains("state\tRESOLVED\n") && shown.output.contains("body\t91 %\n"), "\(shown)")
            let entries: [[Substring]] = shown.output.split(separator: "\n").map { $0.split(separator: "\t") }
            let changes = entries.filter { $0.count == 5 && Int($0[0]) != nil }.map { String($0[2]) }
            #expect(changes == ["OPENED", "ACKNOWLEDGED", "NOTED", "SNOOZED", "RESOLVED"], "\(shown)")
            #expect(shown.output.contains("Acknowledged by ada (laptop): on my way"))
            let whole = try JSONParser.parse(try await run("incident", "alerts#1", "--json").output)
            #expect(whole["timeline"]?.arrayValue?.count == 5 && whole["key"] == "db-1", "\(whole)")
            let ways = whole["timeline"]?.arrayValue?.compactMap { $0["via"]?.stringValue }
            #expect(ways == ["SENDER", "CLI", "CLI", "CLI", "CLI"], "\(whole)")
            let byID = try await run("incident", whole["id"]?.stringValue ?? "")
            #expect(byID.output == shown.output)
        }
    }

    @Test("what does not fit, what is not there and what is nobody's is said in words")
    func refusals() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let way = try await scene.way("EVENT")
            _ = try await scene.post("/in/\(way.key)", Self.trigger("db-1", "Disk full"))
            func run(_ arguments: String..., token: String? = nil) async throws -> Result {
                try await installation.tocsin(arguments, token: token ?? scene.ada)
            }
            _ = try await run("resolve", "alerts#1")
            let late = try await run("ack", "alerts#1")
            #expect(
                late.status == 1 && late.errors.contains("is resolved") && late.errors.contains("reopen"),
                "\(late)"
            )
            let unknown = try await run("ack", "alerts#7")
            #expect(unknown.status == 1 && unknown.errors.contains("There is no incident alerts#7"), "\(unknown)")
            let noTopic = try await run("ack", "elsewhere#1")
            #expect(noTopic.status == 1 && noTopic.errors.contains("elsewhere"), "\(noTopic)")
            let noID = try await run("incident", "nonsense")
            #expect(noID.status == 1 && noID.errors.contains("such as alerts#42"), "\(noID)")
            for reference in ["alerts#1", "01900000-0000-7000-8000-000000000001"] {
                let foreign = try await run("resolve", reference, token: scene.bob)
                #expect(foreign.status == 1 && !foreign.errors.contains("Disk full"), "\(foreign)")
            }
            for wrong in [
                ["snooze", "alerts#1", "soon"], ["snooze", "alerts#1", "0m"], ["snooze", "alerts#1", "31d"],
                ["incidents", "--state", "burning"], ["watch", "--after", "x"],
            ] {
                let answer = try await installation.tocsin(wrong, token: scene.ada)
                #expect(answer.status == 2 && !answer.errors.isEmpty, "\(wrong): \(answer)")
            }
            // Two topics of one name.
            let twin = try await installation.curl(
                #"mutation { createTopic(input: { name: "alerts" }) { id } }"#,
                token: scene.ada
            )
            if twin["errors"] == nil {
                let ambiguous = try await run("ack", "alerts#1")
                #expect(ambiguous.status == 1 && ambiguous.errors.contains("Several topics"), "\(ambiguous)")
                let exact = try await run("incident", "\(scene.topicID)#1")
                #expect(exact.status == 0, "\(exact)")
            }
        }
    }

    @Test("watch tells each change once, in order, over a restart of the server")
    func watching() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let way = try await scene.way("EVENT")
            var environment = TestBinary.environment
            environment["TOCSIN_URL"] = installation.address
            environment["TOCSIN_TOKEN"] = scene.ada
            let watch = try ChildProcess(
                try TestBinary.path(),
                ["watch", "--count", "4"],
                environment: environment,
                folder: installation.folder
            )
            try await eventually("the feed is followed") { watch.errors.contains("Following alerts.") }
            _ = try await installation.tocsin(["publish", "alerts", "--title", "No incident"], token: scene.ada)
            _ = try await scene.post("/in/\(way.key)", Self.trigger("db-1", "Disk full"))
            try await eventually("the first line") { watch.output.contains("OPENED") }
            try await installation.killAndRestartServer()
            for act in ["ack", "resolve"] {
                let answer = try await installation.tocsin([act, "alerts#1"], token: scene.ada)
                #expect(answer.status == 0, "\(answer)")
            }
            _ = try await scene.post("/in/\(way.key)", Self.trigger("db-2", "Disk slow"))
            #expect(try await watch.untilExit() == 0, "\(watch.errors)")
            let lines = watch.output.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
            let seen = lines.map { "\($0[1]) \($0[2]) \($0[3])" }
            #expect(
                seen == [
                    "alerts#1 OPENED OPEN", "alerts#1 ACKNOWLEDGED ACKNOWLEDGED", "alerts#1 RESOLVED RESOLVED",
                    "alerts#2 OPENED OPEN",
                ],
                "\(watch.output)"
            )
            #expect(lines[1].last == "Acknowledged by ada")
        }
    }
}
