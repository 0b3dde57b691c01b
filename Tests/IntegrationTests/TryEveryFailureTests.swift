import Foundation
import JSON
import Testing
import TocsinClient
import TocsinSimulator

/// `docs/try-every-failure.md` says what the ledger shows for each token prefix;
/// these tests try all of them.
///
/// `UPDATE_GOLDEN=1` writes what was seen into the page instead.
@Suite("The page that says how to try every failure", .serialized, .timeLimit(.minutes(15)))
struct TryEveryFailureTests {
    @Test("each token prefix leads to the ledger's row that the page shows", arguments: ["apns", "fcm"])
    func rows(provider: String) async throws {
        let rows = try FailurePage.rows(provider: provider).filter { !$0.pauses }
        try #require(rows.count > 10)
        let seen = try await Self.ledger(of: rows)
        try FailurePage.expect(rows, seen)
    }

    @Test("each prefix whose trouble is everybody's leaves the backlog waiting, as the page shows")
    func pauses() async throws {
        let rows = try FailurePage.rows(provider: "apns") + FailurePage.rows(provider: "fcm")
        let pausing = rows.filter(\.pauses)
        try #require(pausing.count > 5)
        var seen: [String: String] = [:]
        // Each with a server of its own, for they stop all pushes of their provider.
        for row in pausing { seen.merge(try await Self.ledger(of: [row])) { $1 } }
        try FailurePage.expect(pausing, seen)
    }

    @Test("the page has every prefix of the simulator, in its words and its order", arguments: ["apns", "fcm"])
    func complete(provider: String) throws {
        let rows = try FailurePage.rows(provider: provider)
        let rules = ScriptRule.all.filter { $0.provider.rawValue == provider }
        #expect(rows.map(\.prefix) == rules.map(\.prefix))
        #expect(rows.map(\.answer) == rules.map(\.summary))
    }

    /// One message to one phone of each row, and what the ledger shows in the end.
    private static func ledger(of rows: [FailurePage.Row]) async throws -> [String: String] {
        let prepare = { (installation: Installation) in
            installation.environment["TOCSIN_PUSH_RETRY_SECONDS"] = "1,1,1,1"
            installation.environment["TOCSIN_PUSH_REQUEST_TIMEOUT_SECONDS"] = "3"
        }
        var seen: [String: String] = [:]
        try await Installation.run(simulator: ["--quiet"], prepare: prepare) { installation in
            let scene = try await PushScene(installation, phones: [])
            for row in rows { try await PushScene.register(row.phone, scene.client, name: row.prefix) }
            let id = try await scene.publish("Try")
            let waiting = rows.filter { $0.ledger.hasPrefix("WAITING") }
            // Unknown yet is as good as settled when the page is written anew.
            try await eventually("the deliveries are settled") {
                let deliveries = try await scene.deliveries(id)
                let settled = deliveries.filter { $0["status"] != "WAITING" && $0["status"] != "SENDING" }
                let reasons = deliveries.filter { $0["reason"]?.stringValue != nil }
                return deliveries.count == rows.count && settled.count >= rows.count - waiting.count
                    && (waiting.isEmpty || reasons.count + settled.count >= rows.count)
            }
            for delivery in try await scene.deliveries(id) {
                let prefix = delivery["device"]?["name"]?.stringValue ?? ""
                let reason = delivery["reason"]?.stringValue.map { " \($0)" } ?? ""
                seen[prefix] = (delivery["status"]?.stringValue ?? "") + reason
            }
        }
        return seen
    }
}

/// The tables of the page.
enum FailurePage {
    struct Row {
        let provider: String
        let prefix: String
        let answer: String
        /// Status and reason.
        let ledger: String
        /// Whether it stops all pushes of its provider.
        var pauses: Bool { ledger.hasPrefix("WAITING") && ledger != "WAITING QUOTA_EXCEEDED" }

        /// A token that begins with the prefix, and meets its fault twice where it may end.
        var phone: String {
            let isCounted = ScriptRule.all.contains { $0.prefix == prefix && $0.isCounted }
            let isTwice = isCounted && !ledger.hasPrefix("WAITING")
            guard provider == "apns" else {
                return prefix + (isTwice ? "2-" : "") + "phone-of-ada:APA91b-0123456789"
            }
            let begin = prefix + (isTwice ? "2" : "")
            return begin + String(repeating: "f", count: 64 - begin.utf8.count)
        }
    }

    private static var path: String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/try-every-failure.md").path
    }

    /// The rows of the table for a provider: prefix, answer, what the server
    /// does, what the ledger shows.
    static func rows(provider: String) throws -> [Row] {
        var section = ""
        var rows: [Row] = []
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("#") { section = line.contains("APNs") ? "apns" : line.contains("FCM") ? "fcm" : "" }
            guard section == provider, line.hasPrefix("| `") else { continue }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: [" ", "`"]) }
            guard cells.count == 4 else { continue }
            rows.append(Row(provider: section, prefix: cells[0], answer: cells[1], ledger: cells[3]))
        }
        return rows
    }

    static func expect(_ rows: [Row], _ seen: [String: String]) throws {
        guard ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" else {
            for row in rows { #expect(seen[row.prefix] == row.ledger, "\(row.provider) \(row.prefix)") }
            return
        }
        var text = try String(contentsOfFile: path, encoding: .utf8)
        for row in rows {
            guard let ledger = seen[row.prefix], ledger != row.ledger else { continue }
            var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            if let index = lines.firstIndex(where: { $0.hasPrefix("| `\(row.prefix)` |") }) {
                lines[index] = lines[index].replacing("| `\(row.ledger)` |", with: "| `\(ledger)` |")
            }
            text = lines.joined(separator: "\n")
        }
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
}
