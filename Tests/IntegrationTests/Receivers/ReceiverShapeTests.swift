import Foundation
import JSON
import Testing

@Suite("Shapes of senders that are switched off", .timeLimit(.minutes(5)))
struct ReceiverShapeTests {
    /// The paths of each shape, each with a body; `TOPIC` and `KEY` are filled in.
    private static let paths: [(shape: String, method: String, path: String)] = [
        ("alertmanager", "POST", "/in/alertmanager"), ("grafana", "POST", "/in/grafana"),
        ("pagerduty", "POST", "/v2/enqueue"), ("pagerduty", "POST", "/v2/change/enqueue"),
        ("pagerduty", "POST", "/in/pagerduty"), ("ntfy", "POST", "/alerts"), ("ntfy", "PUT", "/alerts"),
        ("ntfy", "GET", "/alerts/publish"), ("ntfy", "DELETE", "/alerts/s1"), ("ntfy", "POST", "/in/ntfy"),
        ("gotify", "POST", "/message"), ("gotify", "GET", "/version"), ("gotify", "GET", "/health"),
        ("gotify", "POST", "/in/gotify"), ("slack", "POST", "/services/T/B/KEY"), ("slack", "POST", "/hooks/KEY"),
        ("slack", "POST", "/in/slack"), ("cloudevents", "POST", "/in/cloudevents"), ("heartbeat", "GET", "/ping/KEY"),
        ("heartbeat", "GET", "/api/push/KEY"), ("event", "POST", "/in/event"), ("event", "POST", "/in/to/alerts/event"),
        ("mail", "POST", "/in/mail"), ("template", "POST", "/in/template"),
    ]
    private static let shapes = Set(paths.map(\.shape))

    private func answer(_ installation: Installation, _ method: String, _ path: String) async throws -> HTTPAnswer {
        let path = path.replacing("KEY", with: String(repeating: "abcdefgh", count: 4))
        return try await installation.http(path, ["--request", method] + (method == "GET" ? [] : ["--data", "{}"]))
    }

    @Test("where one shape is on, the paths of all others are as any that is not there", arguments: shapes.sorted())
    func alone(taken: String) async throws {
        try await Installation.run {
            $0.environment["TOCSIN_RECEIVER_SHAPES"] = taken
        } _: { installation in
            // No topic of ntfy's is called so.
            let absent = try await answer(installation, "POST", "/static/nothing")
            #expect(absent.status == 404)
            for (shape, method, path) in Self.paths {
                let answer = try await answer(installation, method, path)
                if shape == taken {
                    let isThere = answer.status != 404 || answer.body != absent.body
                    #expect(isThere, "\(path): \(answer.status) \(answer.body)")
                } else {
                    #expect(answer.status == 404, "\(path): \(answer.status)")
                    #expect(answer.body == absent.body, "\(path): \(answer.body)")
                    #expect(answer.header("content-type") == absent.header("content-type"))
                }
            }
        }
    }

    @Test("unless it is set, each shape has its paths", arguments: [nil, "all"])
    func usual(setting: String?) async throws {
        try await Installation.run {
            $0.environment["TOCSIN_RECEIVER_SHAPES"] = setting
        } _: { installation in
            let absent = try await answer(installation, "POST", "/static/nothing")
            for (_, method, path) in Self.paths {
                let answer = try await answer(installation, method, path)
                let isThere = answer.status != 404 || answer.body != absent.body
                #expect(isThere, "\(path): \(answer.status) \(answer.body)")
            }
        }
    }

    @Test("what is on takes its posts, and a key of what is off is an unknown one, of which its owner is told")
    func keys() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let (event, ntfy) = (try await scene.way("EVENT"), try await scene.way("NTFY"))
            installation.environment["TOCSIN_RECEIVER_SHAPES"] = "event, Alertmanager"
            try await installation.restartServer()
            #expect(try await scene.post("/in/\(event.key)", SentBody.event).status == 202)
            let off = try await scene.post("/in/\(ntfy.key)", "ring")
            let unknown = try await scene.post("/in/\(String(repeating: "abcdefgh", count: 4))", "ring")
            #expect(off.status == 401 && off.body == unknown.body, "\(off)")
            #expect(try await scene.post("/alerts", "ring", ["Authorization: Bearer \(ntfy.key)"]).status == 404)
            try await eventually("the owner is told") {
                let trouble = try await scene.integration(ntfy.id, "trouble")["trouble"]?.stringValue
                return trouble?.contains("TOCSIN_RECEIVER_SHAPES") == true
            }
        }
    }

    @Test("a way in of a shape that is off is not made, and whoever asks is told which shapes are on")
    func notMade() async throws {
        try await Installation.run {
            $0.environment["TOCSIN_RECEIVER_SHAPES"] = "event,alertmanager"
        } _: { installation in
            let scene = try await ReceiverScene(installation)
            let made = try await installation.tocsin(
                ["integration", "add", "gate", "--kind", "ntfy", "--topic", "alerts"],
                token: scene.ada
            )
            #expect(made.status == 1 && made.output.isEmpty, "\(made)")
            for words in ["TOCSIN_RECEIVER_SHAPES", "NTFY", "It takes ALERTMANAGER, EVENT."] {
                #expect(made.errors.contains(words), "\(made)")
            }
            for words in [["--kind", "nfty"], ["--kind", "event", "--grouping", "groups"]] {
                let arguments = ["integration", "add", "gate", "--topic", "alerts"] + words
                let wrong = try await installation.tocsin(arguments, token: scene.ada)
                let sentence = words.suffix(2).joined(separator: " ") + " is not one of"
                #expect(wrong.status == 2 && wrong.errors.contains(sentence), "\(wrong)")
            }
        }
    }

    @Test("a shape that is none is told with those that are", arguments: ["ntfy,nfty", "all,ntfy", ","])
    func unknown(shapes: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tocsin-shapes-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let result = try await TestBinary.run(
            ["settings", "check", "--data-dir", folder],
            with: ["TOCSIN_RECEIVER_SHAPES": shapes],
            folder: folder
        )
        #expect(result.status == 2, "\(result)")
        for words in ["TOCSIN_RECEIVER_SHAPES", "alertmanager", "cloudevents", "template"] {
            #expect(result.errors.contains(words), "\(result)")
        }
        if shapes == "ntfy,nfty" { #expect(result.errors.contains("there is no shape nfty"), "\(result)") }
    }
}
