import Encodings
import Foundation
import Testing
import TocsinAuth
import TocsinCore

@Suite("The server key's file")
struct ServerKeyTests {
    /// A fresh directory that goes when the test is over.
    private final class Folder {
        let path: String
        var file: String { path + "/server.key" }

        init() throws {
            path = NSTemporaryDirectory() + "tocsin-key-" + UUID().uuidString
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }

        deinit {
            try? FileManager.default.removeItem(atPath: path)
        }

        func write(_ text: String, mode: Int = 0o600) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        }
    }

    @Test("the first start makes it for its owner only, later ones read it")
    func creation() throws {
        let folder = try Folder()
        let key = try ServerKey.load(from: folder.path)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["server.key"])
        let again = try ServerKey.load(from: folder.path)
        for purpose in ServerKey.Purpose.allCases {
            #expect(again.derived(for: purpose) == key.derived(for: purpose))
            #expect(key.derived(for: purpose).count == 32)
        }
        #expect(Set(ServerKey.Purpose.allCases.map { key.derived(for: $0) }).count == ServerKey.Purpose.allCases.count)
    }

    @Test("of many starts at once one makes the key and all have it")
    func race() async throws {
        let folder = try Folder()
        let path = folder.path
        let keys = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<16 { group.addTask { try ServerKey.load(from: path).derived(for: .sealing) } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["server.key"])
    }

    @Test("one that others may read is refused with what to do", arguments: [0o644, 0o604, 0o606, 0o602])
    func modes(mode: Int) throws {
        let folder = try Folder()
        try folder.write(Base64URL.encoded([UInt8](repeating: 1, count: 32)), mode: mode)
        let error = #expect(throws: KeyError.self) { try ServerKey.load(from: folder.path) }
        #expect(error?.description.contains("chmod 600") == true)
    }

    @Test(
        "one that is no key is refused and never echoed",
        arguments: ["", "hunter2hunter2", "AAAA", "!!!!", String(repeating: "A", count: 5000)]
    )
    func contents(text: String) throws {
        let folder = try Folder()
        try folder.write(text)
        let error = #expect(throws: KeyError.self) { try ServerKey.load(from: folder.path) }
        #expect(error?.description.contains("server.key") == true)
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test("a key pasted from openssl is taken")
    func pasted() throws {
        let folder = try Folder()
        try folder.write(Data(repeating: 200, count: 48).base64EncodedString() + "\n")
        let expected = try ServerKey(secret: [UInt8](repeating: 200, count: 48))
        #expect(try ServerKey.load(from: folder.path).derived(for: .sealing) == expected.derived(for: .sealing))
    }

    @Test("a directory that is not there, or a link, is told apart from a key")
    func odd() throws {
        #expect(throws: KeyError.self) { try ServerKey.load(from: "/nonexistent/tocsin") }
        let folder = try Folder()
        try FileManager.default.createSymbolicLink(atPath: folder.file, withDestinationPath: "/etc/hostname")
        #expect(throws: KeyError.self) { try ServerKey.load(from: folder.path) }
    }
}
