import Foundation
import Testing

@Suite("A console from a folder of one's own", .timeLimit(.minutes(5)))
struct ConsoleFolderTests {
    @Test("its scripts and styles are served to everybody, what else lies there to nobody")
    func files() async throws {
        try await Installation.run { installation in
            let folder = installation.folder + "/console"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for name in ["app.js", "mine.css", "server.key", "notes.html", "js", ".hidden.js", "app.js~"] {
                try "text of \(name)".write(toFile: folder + "/" + name, atomically: true, encoding: .utf8)
            }
            installation.environment["TOCSIN_CONSOLE"] = folder
        } _: { installation in
            for name in ["app.js", "mine.css"] {
                let answer = try await installation.http("/assets/folder/\(name)", token: nil)
                #expect(answer.status == 200 && answer.body == "text of \(name)", "\(answer)")
            }
            for name in ["server.key", "notes.html", "js", ".hidden.js", "app.js~", "%2e%2e%2ftocsin.db", "none.js"] {
                let answer = try await installation.http("/assets/folder/\(name)", token: nil)
                #expect(answer.status == 404 && !answer.body.contains("text of"), "\(name): \(answer)")
            }
        }
    }
}
