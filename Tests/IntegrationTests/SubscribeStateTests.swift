import Foundation
import JSON
import Testing
import TocsinClient

@Suite("tocsin subscribe with a state", .timeLimit(.minutes(5)))
struct SubscribeStateTests {
    private func start(_ installation: Installation, _ arguments: [String], token: String) throws -> ChildProcess {
        var environment = TestBinary.environment
        environment["TOCSIN_URL"] = installation.address
        environment["TOCSIN_TOKEN"] = token
        return try ChildProcess(
            try TestBinary.path(),
            ["subscribe"] + arguments,
            environment: environment,
            folder: installation.folder
        )
    }

    /// The numbers of the whole lines that a run printed.
    private func numbers(_ process: ChildProcess) -> [Int64] {
        let lines = process.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        return lines.compactMap { line in
            // A kill can cut the last line off.
            (try? JSONParser.parse(String(line)))?["number"]?.intValue
        }
    }

    @Test("through kills of the command and of the server each message is handled once, at a kill twice at most")
    func kills() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.ada)
            let arguments = ["alerts", "--json", "--state", installation.folder + "/alerts.state"]
            var (handled, expected): ([Int64], Int64) = ([], 0)
            for round in 1...6 {
                let process = try start(installation, arguments, token: scene.ada)
                // The first run must have begun before there is anything to miss.
                if round == 1 {
                    try await eventually("it follows") { process.errors.contains("Following") }
                    process.signal(SIGKILL)
                    try await process.untilExit()
                    continue
                }
                for _ in 1...12 { expected = try await client.publish(topic: "alerts", title: "x").number }
                if round.isMultiple(of: 2) { try await installation.killAndRestartServer() }
                try await eventually("it goes on") { numbers(process).last ?? 0 > Int64(round * 12 - 20) }
                process.signal(SIGKILL)
                try await process.untilExit()
                let run = numbers(process)
                // What the last run had handled and could not keep any more comes
                // again, and nothing else.
                let again = run.first == handled.last && !handled.isEmpty
                handled += again ? Array(run.dropFirst()) : run
            }
            let last = try start(installation, arguments, token: scene.ada)
            try await eventually("all has come") { (numbers(last).last ?? handled.last) == expected }
            last.signal(SIGKILL)
            try await last.untilExit()
            let run = numbers(last)
            handled += run.first == handled.last ? Array(run.dropFirst()) : run
            #expect(handled == Array(1...expected))
        }
    }

    @Test("a state is of one topic, and a file that holds none is not overwritten")
    func mistakes() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.ada)
            _ = try await client.makeTopic(named: "other")
            for title in ["one", "two"] { _ = try await client.publish(topic: "alerts", title: title) }
            let file = installation.folder + "/state"
            let cursor = try await client.publish(topic: "alerts", title: "three").cursor
            _ = try await client.publish(topic: "alerts", title: "four")
            let once = ["--count", "1", "--json", "--state", file, "--after", cursor]
            let first = try await installation.tocsin(["subscribe", "alerts"] + once, token: scene.ada)
            #expect(first.output.contains("\"four\""))
            let kept = try String(contentsOfFile: file, encoding: .utf8)
            #expect(try JSONParser.parse(kept)["number"] == 4)

            _ = try await client.publish(topic: "alerts", title: "five")
            let second = try await installation.tocsin(["subscribe", scene.topicID] + once, token: scene.ada)
            #expect(second.output.contains("\"five\""), "\(second.errors)")

            let other = try await installation.tocsin(["subscribe", "other"] + once, token: scene.ada)
            #expect(other.status == 2)
            #expect(other.errors.contains("is the state of topic"))
            try "not a state".write(toFile: file, atomically: true, encoding: .utf8)
            let broken = try await installation.tocsin(["subscribe", "alerts"] + once, token: scene.ada)
            #expect(broken.status == 1)
            #expect(broken.errors.contains("no state of a subscription"))
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "not a state")
        }
    }
}
