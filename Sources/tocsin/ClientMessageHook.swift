import Foundation
import JSON
import TocsinClient

/// Runs a person's command for a message.
struct MessageHook {
    /// What `sh -c` runs.
    let command: String

    /// One variable of an environment holds at most 128 KiB on Linux.
    private static let maximumVariableBytes = 100_000

    /// Runs the command to its end and returns its exit status; a signal counts as 128 and its number.
    func run(_ message: FeedMessage) async throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        process.environment = ProcessInfo.processInfo.environment.merging(Self.variables(of: message)) { $1 }
        process.standardInput = try Self.input(message)
        return try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { process in
                let signalled = process.terminationReason == .uncaughtSignal
                continuation.resume(returning: process.terminationStatus + (signalled ? 128 : 0))
            }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
    }

    private static func variables(of message: FeedMessage) -> [String: String] {
        var variables = [
            "TOCSIN_ID": message.id, "TOCSIN_NUMBER": "\(message.number)", "TOCSIN_CURSOR": message.cursor,
            "TOCSIN_TOPIC_ID": message.topicID, "TOCSIN_TYPE": "\(message.type)",
            "TOCSIN_PRIORITY": "\(message.priority)", "TOCSIN_CREATED_AT": message.createdAt,
        ]
        variables["TOCSIN_TITLE"] = shortened(message.title)
        variables["TOCSIN_BODY"] = shortened(message.body)
        // Not TOCSIN_URL: that is the server's address, for a `tocsin publish` inside the command.
        variables["TOCSIN_MESSAGE_URL"] = shortened(message.url ?? "")
        variables["TOCSIN_CATEGORY"] = shortened(message.category ?? "")
        return variables
    }

    private static func shortened(_ text: String) -> String {
        guard text.utf8.count > maximumVariableBytes else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: maximumVariableBytes)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }

    /// The message as a file without a name: unlike a pipe it never waits for a command that does not read.
    private static func input(_ message: FeedMessage) throws -> FileHandle {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("tocsin-\(UUID().uuidString)")
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: attributes) else {
            throw CocoaError(.fileWriteUnknown)
        }
        defer { unlink(url.path) }
        let file = try FileHandle(forUpdating: url)
        try file.write(contentsOf: Data(message.json.serialized() + [UInt8(ascii: "\n")]))
        try file.seek(toOffset: 0)
        return file
    }
}
