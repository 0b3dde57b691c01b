import Foundation
import Synchronization

/// A started process, whose output goes to files; whoever starts it ends it.
final class ChildProcess: Sendable {
    let processID: Int32
    private let end: Exit
    private let outputPath: String
    private let errorPath: String

    /// Starts the executable with nothing on its standard input; its
    /// environment is the given one only.
    ///
    /// With a descriptor, standard error goes there and not to the file; with an input, that is
    /// read instead of nothing. A descriptor that is handed over is number 3 there.
    ///
    /// Not by Foundation's `Process`: with more than about 1,300 open files it reads past the
    /// end of its list of them.
    init(
        _ executable: String,
        _ arguments: [String],
        environment: [String: String],
        folder: String,
        errorDescriptor: Int32? = nil,
        inputPath: String = "/dev/null",
        handsOver handed: Int32? = nil
    ) throws {
        let name = UUID().uuidString
        outputPath = folder + "/" + name + ".out"
        errorPath = folder + "/" + name + ".err"
        processID = try Self.spawn(
            [executable] + arguments,
            environment: environment.map { "\($0)=\($1)" },
            inputPath: inputPath,
            outputPath: outputPath,
            errorPath: errorPath,
            errorDescriptor: errorDescriptor,
            handed: handed
        )
        let (exit, processID) = (Exit(), processID)
        end = exit
        Thread.detachNewThread {
            var status: Int32 = 0
            while waitpid(processID, &status, 0) == -1, errno == EINTR {}
            let signal = status & 0x7F
            let code = signal == 0 ? (status >> 8) & 0xFF : 128 + signal
            exit.status.withLock { $0 = code }
        }
    }

    /// The process's end, seen by the thread that waits for it.
    private final class Exit: Sendable {
        let status = Mutex<Int32?>(nil)
    }

    private static func spawn(
        _ arguments: [String],
        environment: [String],
        inputPath: String,
        outputPath: String,
        errorPath: String,
        errorDescriptor: Int32?,
        handed: Int32?
    ) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let making = O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, 0, inputPath, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, outputPath, making, 0o600)
        if let errorDescriptor {
            posix_spawn_file_actions_adddup2(&actions, errorDescriptor, 2)
        } else {
            posix_spawn_file_actions_addopen(&actions, 2, errorPath, making, 0o600)
        }
        // A program counts what it has inherited as its own: beside tests with a thousand
        // sockets, PostgreSQL gives up.
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            guard let descriptor = Int32(name), descriptor > 2, descriptor != handed else { continue }
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        if let handed { posix_spawn_file_actions_adddup2(&actions, handed, 3) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The child must not begin with the signals that this thread blocks or ignores.
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let argv = arguments.map { strdup($0) } + [nil]
        let envp = environment.map { strdup($0) } + [nil]
        defer { for text in argv + envp { free(text) } }
        var processID: Int32 = 0
        let failure = posix_spawn(&processID, arguments[0], &actions, &attributes, argv, envp)
        guard failure == 0 else {
            throw HarnessFailure("\(arguments[0]) cannot be started: \(String(cString: strerror(failure))).")
        }
        return processID
    }

    /// The exit status; 128 and the number after a signal; `nil` while it runs.
    var status: Int32? { end.status.withLock { $0 } }
    var output: String { Self.text(outputPath) }
    var errors: String { Self.text(errorPath) }

    /// Sends a signal, if it still runs.
    func signal(_ number: Int32) {
        if status == nil { kill(processID, number) }
    }

    /// Waits for the end.
    @discardableResult
    func untilExit(withinSeconds seconds: Double = Patience.seconds) async throws -> Int32 {
        do {
            return try await eventually("process \(processID) ends", withinSeconds: seconds) { status }
        } catch {
            signal(SIGKILL)
            throw HarnessFailure("\(error) It said: \(errors)")
        }
    }

    /// Runs a process to its end and gives what it printed.
    static func run(
        _ executable: String,
        _ arguments: [String],
        environment: [String: String],
        folder: String
    ) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ChildProcess(executable, arguments, environment: environment, folder: folder)
        let status = try await process.untilExit()
        return (status, process.output, process.errors)
    }

    private static func text(_ path: String) -> String {
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }
}
