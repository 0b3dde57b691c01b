import Foundation
import Testing
import TocsinServer

@Suite("Settings that pages name")
struct PageSettingsTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Read by the client commands and by the tests.
    private static let others = [
        "TOCSIN_URL", "TOCSIN_TOKEN", "TOCSIN_SITE", "TOCSIN_TEST_POSTGRES", "TOCSIN_TEST_DATABASE",
        SettingTable.fileVariable,
    ]

    @Test("every variable that a page names is a setting")
    func variables() throws {
        let settings = SettingTable.all
        let known = Set(settings.map(\.variable) + settings.flatMap(\.fileVariables) + Self.others)
            .union(settings.flatMap(\.aliases).map(\.variable))
        var count = 0
        for page in try Self.pages() {
            let text = try String(contentsOf: page, encoding: .utf8)
            for match in text.matches(of: /\b(?:TOCSIN|APNS|FCM|VAPID|WEBPUSH)_[A-Z0-9_]*[A-Z0-9]/) {
                count += 1
                let variable = String(match.output)
                #expect(known.contains(variable), "\(page.lastPathComponent) names \(variable)")
            }
        }
        #expect(count > 50)
    }

    private static func pages() throws -> [URL] {
        let folders = [root, root.appending(path: "docs"), root.appending(path: "schema")]
        return try folders.flatMap { folder in
            try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        }.filter { $0.pathExtension == "md" }
    }
}
