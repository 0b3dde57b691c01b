import Foundation
import JSON
import Testing
import TocsinClient

@Suite("Founding row B13: single notifications, then a summary", .timeLimit(.minutes(5)))
struct QuietSummaryTests {
    @Test("B13: five messages of a quiet hour are pushed one by one when it ends, and six as one summary")
    func summary() async throws {
        try await Installation.run(simulator: ["--quiet"]) { installation in
            let phone = PushScene.phone("b13")
            let scene = try await PushScene(installation, phones: [phone])
            for (count, expected) in [(5, 5), (6, 1)] {
                _ = try await scene.client.mutate("mutation { doNotDisturb(minutes: 60) { doNotDisturbUntil } }")
                let before = try await installation.simulator?.pushes().count ?? 0
                var ids: [String] = []
                for number in 1...count { ids.append(try await scene.publish("Task \(number)")) }
                for id in ids { try await scene.untilStatuses(id, ["WAITING": 1]) }
                let held = try await scene.deliveries(ids[0])
                #expect(held.first?["reason"] == "QUIET_HOURS")
                _ = try await scene.client.mutate("mutation { doNotDisturb(minutes: 0) { doNotDisturbUntil } }")
                for id in ids { try await scene.untilStatuses(id, ["ACCEPTED": 1]) }
                try await eventually("\(expected) pushes have come") {
                    try await installation.simulator?.pushes().count == before + expected
                }
            }
        }
    }
}
