import Dispatch
import Glibc
import Synchronization
import TocsinServer

/// Runs one command with this process's input, output and error, and keeps the end of its output.
///
/// The signals that ask this process to stop go to the command instead.
final class WatchedProcess: Sendable {
    /// How it ended.
    struct End: Sendable {
        /// Its status; 128 and the number after a signal, as shells have it.
        var status: Int32
        /// The last 10,000 bytes of output and error, as they came.
        var output: [UInt8]
    }

    private struct State {
        /// The signals that are handed on.
        var forwarded: [Int32] = []
        var processID: pid_t?
        /// Signals that came before it ran.
        var early: [Int32] = []
        var status: Int32?
    }

    private let state = Mutex(State())

    private static let forwarded = [SIGTERM, SIGINT, SIGHUP, SIGQUIT]
    /// How long the output of a command that has ended is read, which others may still write.
    private static let patience: Duration = .seconds(1)

    /// Runs it to its end, on a thread that may block.
    func run(_ command: [String]) async -> End {
        let sources = forwardSignals()
        defer { for source in sources { source.cancel() } }
        return await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: self.runBlocking(command)) }
        }
    }

    private func forwardSignals() -> [any DispatchSourceSignal] {
        signal(SIGPIPE, SIG_IGN)
        return Self.forwarded.compactMap { number in
            // What was ignored before, as by nohup, stays so for the command too.
            guard !Self.isIgnored(number) else { return nil }
            state.withLock { $0.forwarded.append(number) }
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { self.forward(number) }
            source.resume()
            return source
        }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    private func forward(_ number: Int32) {
        // A terminal sends its own to the command as well.
        if [SIGINT, SIGQUIT].contains(number), tcgetpgrp(STDIN_FILENO) == getpgrp() { return }
        state.withLock { state in
            if let processID = state.processID {
                kill(processID, number)
            } else if state.status == nil {
                state.early.append(number)
            }
        }
    }

    private func runBlocking(_ command: [String]) -> End {
        var (output, error): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard pipe(&output) == 0, pipe(&error) == 0 else { return Self.unstarted(command, errno) }
        for descriptor in output + error { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        let failure = spawn(command, output: output[1], error: error[1])
        close(output[1])
        close(error[1])
        defer { for descriptor in [output[0], error[0]] { close(descriptor) } }
        guard failure == 0 else { return Self.unstarted(command, failure) }
        var tail = OutputTail()
        copy([(output[0], STDOUT_FILENO), (error[0], STDERR_FILENO)], &tail)
        var pause: UInt32 = 500
        while true {
            if let status = reap() { return End(status: status, output: tail.bytes) }
            usleep(pause)
            pause = min(pause * 2, 50_000)
        }
    }

    private static func unstarted(_ command: [String], _ failure: Int32) -> End {
        let reason = "\(command[0]) cannot be run: \(String(cString: strerror(failure)))."
        Terminal.remark(reason)
        return End(status: failure == ENOENT ? 127 : 126, output: Array(reason.utf8))
    }

    private func spawn(_ command: [String], output: Int32, error: Int32) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The command begins with the signals that this process began with.
        var (none, usual) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigemptyset(&usual)
        for number in state.withLock({ $0.forwarded }) + [SIGPIPE] { sigaddset(&usual, number) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &usual)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let arguments = command.map { strdup($0) } + [nil]
        defer { for text in arguments { free(text) } }
        return state.withLock { state in
            var processID: pid_t = 0
            let failure = posix_spawnp(&processID, command[0], &actions, &attributes, arguments, environ)
            guard failure == 0 else {
                state.status = 127
                return failure
            }
            state.processID = processID
            for number in state.early { kill(processID, number) }
            return 0
        }
    }

    /// Copies until both ends are closed, or the command has ended and no more comes.
    private func copy(_ pipes: [(from: Int32, to: Int32)], _ tail: inout OutputTail) {
        var (pipes, deaf) = (pipes, Set<Int32>())
        var end: ContinuousClock.Instant?
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while !pipes.isEmpty {
            var descriptors = pipes.map { pollfd(fd: $0.from, events: Int16(POLLIN), revents: 0) }
            let ready = poll(&descriptors, nfds_t(descriptors.count), end == nil ? 200 : 0)
            if end == nil, reap() != nil {
                // What it wrote last may lie in the pipe since.
                end = .now + Self.patience
                continue
            }
            if let end, ready <= 0 || ContinuousClock.now > end { return }
            for (descriptor, place) in zip(descriptors, pipes.map(\.to)) where descriptor.revents != 0 {
                let count = read(descriptor.fd, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    pipes.removeAll { $0.from == descriptor.fd }
                    continue
                }
                let piece = buffer.prefix(count)
                tail.append(piece)
                // Nobody reads there any more: the command need not know.
                if !deaf.contains(place), (try? SystemFile.write(piece, to: place)) == nil { deaf.insert(place) }
            }
        }
    }

    /// The status once it has ended; from then on no signal is sent to its number.
    private func reap() -> Int32? {
        state.withLock { state in
            guard let processID = state.processID else { return state.status }
            var status: Int32 = 0
            guard waitpid(processID, &status, WNOHANG) == processID else { return nil }
            state.processID = nil
            let number = status & 0x7F
            state.status = number == 0 ? (status >> 8) & 0xFF : 128 + number
            return state.status
        }
    }
}

/// The last bytes of an output.
struct OutputTail {
    private var kept: [UInt8] = []

    /// The most bytes of it.
    static let maximumBytes = 10_000

    /// At most the last 10,000.
    var bytes: [UInt8] { Array(kept.suffix(Self.maximumBytes)) }

    mutating func append(_ piece: some Collection<UInt8>) {
        kept += piece.suffix(Self.maximumBytes)
        if kept.count > 8 * Self.maximumBytes { kept = bytes }
    }
}
