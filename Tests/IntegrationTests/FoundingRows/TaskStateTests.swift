import Foundation
import JSON
import Testing

@Suite("Founding rows: categories and states of tasks", .timeLimit(.minutes(5)))
struct TaskStateTests {
    private static let buttons: [(state: String, category: String, actions: [String])] = [
        ("Overdue", "TASK_ACTIONABLE", ["edit", "complete", "cancel", "mark_in_progress"]),
        ("Due Soon", "TASK_ACTIONABLE", ["edit", "complete", "cancel", "mark_in_progress"]),
        ("In Progress", "TASK_IN_PROGRESS", ["edit", "complete", "cancel"]),
        ("Cancelled", "TASK_CANCELLED", ["edit"]), ("Completed", "TASK_COMPLETED", ["edit"]),
    ]

    @Test("B6: a message's state chooses the category that an iPhone gets and the buttons that an Android phone gets")
    func states() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            for (state, _, _) in Self.buttons {
                let arguments = ["publish", "alerts", "--title", state, "--category", state]
                #expect(try await installation.tocsin(arguments, token: scene.ada).status == 0)
            }
            let pushes = try await scene.untilDelivered(Self.buttons.count)
            for (state, category, actions) in Self.buttons {
                let apple = pushes.first { $0.token == Phone.firstIOS && $0.title == state }?.record["payload"]
                #expect(apple?["aps"]?["category"] == .string(category))
                let android = pushes.first { $0.token == Phone.android && $0.title == state }?.record["payload"]
                let text = android?["message"]?["data"]?["actions"]?.stringValue ?? ""
                let ids = try JSONParser.parse(text).arrayValue?.map { $0["id"]?.stringValue }
                #expect(ids == actions, "\(state): \(text)")
            }
        }
    }

    @Test("B9, B10: generate categories --swift prints the shipped categories with the documents' names")
    func source() async throws {
        let made = try await TestBinary.run(["generate", "categories", "--swift"], folder: NSTemporaryDirectory())
        #expect(made.status == 0, "\(made.errors)")
        let names = made.output.matches(of: /identifier: "([A-Z_]+)"/).map { String($0.output.1) }
        #expect(
            names.suffix(13) == [
                "TASK_ACTIONABLE", "COMPLETE", "EDIT", "SKIP", "IN_PROGRESS", "TASK_IN_PROGRESS", "COMPLETE", "EDIT",
                "CANCEL", "TASK_CANCELLED", "EDIT", "TASK_COMPLETED", "EDIT",
            ],
            "\(made.output)"
        )
    }
}
