import Foundation
import Testing

@Suite("Processes that tests start")
struct ChildProcessTests {
    @Test("a process begins with its standard files and hardly another, however many its parent has open")
    func inheritsNothing() async throws {
        let folder = NSTemporaryDirectory() + "tocsin-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let open = (0..<50).map { _ in Foundation.open("/dev/null", O_RDONLY) }
        defer { for descriptor in open { close(descriptor) } }
        let listed = try await ChildProcess.run("/bin/ls", ["/proc/self/fd"], environment: [:], folder: folder)
        // One more is the folder that it reads. Other tests may open a few files while this
        // one looks at what is open.
        #expect((4...12).contains(listed.output.split(separator: "\n").count), "\(listed.output)")
    }
}
