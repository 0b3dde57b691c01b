import Dispatch
import FoundationEssentials
import Glibc
import JSON
import TocsinClient

/// Runs a person's command for a message.
struct MessageHook {
    /// What `sh -c` runs.
    let command: String

    /// One variable of an environment holds at most 128 KiB on Linux.
    private static let maximumVariableBytes = 100_000

    /// Runs the command to its end and returns its exit status; a signal
    /// counts as 128 and its number.
    func run(_ message: FeedMessage) async throws -> Int32 {
        let environment = ProcessInfo.processInfo.environment.merging(Self.variables(of: message)) { $1 }
        let input = try Self.input(message)
        defer { close(input) }
        let processID = try start(environment, reading: input)
        return await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: Self.status(ofEnded: processID)) }
        }
    }

    /// Starts the command in a process group of its own, with no signal blocked or ignored.
    ///
    /// A child inherits the signal mask of the thread that starts it, and threads of the
    /// concurrency runtime block nearly all signals. With that mask, SIGTERM could end neither the
    /// command nor what it starts.
    private func start(_ environment: [String: String], reading input: Int32) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            if let descriptor = Int32(name), descriptor > 2 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let words = ["sh", "-c", command]
        let arguments = words.map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var processID: pid_t = 0
        let failure = posix_spawn(&processID, "/bin/sh", &actions, &attributes, arguments, variables)
        guard failure == 0 else {
            throw CommandFailure("/bin/sh cannot be started: \(String(cString: strerror(failure))).")
        }
        return processID
    }

    /// Waits for the process's end.
    private static func status(ofEnded processID: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
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

    /// The message as a file without a name: unlike a pipe it never waits for a
    /// command that does not read.
    private static func input(_ message: FeedMessage) throws(CommandFailure) -> Int32 {
        let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        var name = Array("\(folder)/tocsin-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        if file >= 0 { unlink(name) }
        let bytes = message.json.serialized() + [UInt8(ascii: "\n")]
        guard file >= 0, write(file, bytes, bytes.count) == bytes.count, lseek(file, 0, SEEK_SET) == 0 else {
            throw CommandFailure("The message cannot be handed to the command: \(String(cString: strerror(errno))).")
        }
        return file
    }
}
