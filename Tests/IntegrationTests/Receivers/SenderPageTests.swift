import Foundation
import JSON
import Testing

/// Tries what the pages on senders have readers paste.
///
/// Blocks marked `sh` are tried by `DocumentationTests`.
@Suite("Pages on senders, as they are pasted", .serialized, .timeLimit(.minutes(10)))
struct SenderPageTests {
    /// Blocks that nobody can try here.
    private static let leftOut = ["nagios ini": "A line for Nagios itself, which cannot be run here."]

    @Test("every block and every address of the pages on senders is tried, and taken")
    func pages() async throws {
        try await Installation.run { installation in
            let desk = try await SenderPageDesk(installation)
            var counts = (blocks: 0, addresses: 0)
            for page in SenderPage.all {
                var tried = 0
                for block in page.blocks {
                    if Self.leftOut["\(page.name) \(block.language)"] != nil { continue }
                    do {
                        #expect(try await desk.attempt(block, page), "\(page): nobody tries block \(block.number)")
                    } catch {
                        Issue.record("\(page), block \(block.number): \(error)")
                    }
                    tried += 1
                }
                counts.blocks += tried
                for address in page.addresses {
                    do { try await desk.post(to: address, page) } catch {
                        Issue.record("\(page): \(address): \(error)")
                    }
                    counts.addresses += 1
                    tried += 1
                }
                #expect(tried > 0, "\(page) has nothing that can be tried")
            }
            #expect(desk.unsent.isEmpty, "\(desk.unsent)")
            #expect(counts.blocks > 40 && counts.addresses > 15, "\(counts)")
            #expect(try await desk.scene.messages().count > 20)
        }
    }

    @Test("what senders of the shipped receivers post is taken at the path that the page names")
    func shipped() async throws {
        let text = try String(contentsOfFile: SenderPage.root + "/schema/receivers.md", encoding: .utf8)
        let table = text.components(separatedBy: "\n## ").first { $0.hasPrefix("What ships") } ?? ""
        let named = table.matches(of: /(?m)^\| `([a-z-]+)` \|/).map { String($0.output.1) }
        let folder = SenderPage.root + "/Tests/TocsinReceiversTests/Receivers"
        #expect(try named.sorted() == FileManager.default.contentsOfDirectory(atPath: folder).sorted())
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            var posts = 0
            for receiver in named {
                let way = try await scene.way("TEMPLATE", ["receiver": .string(receiver)])
                let path = receiver == "victorops" ? "/in/\(way.key)/anything/ROUTING" : "/in/\(way.key)"
                for file in try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(receiver)") {
                    let recorded = try RecordedPost(path: "\(folder)/\(receiver)/\(file)")
                    let answer = try await recorded.send(to: path, key: way.key, installation)
                    #expect((200..<300).contains(answer.status), "\(receiver)/\(file): \(answer.status) \(answer.body)")
                    posts += 1
                }
            }
            #expect(posts > 60, "\(posts)")
        }
    }
}
