import Foundation

extension Process {
    /// Seconds that a child has until it is killed.
    private static let patience = 10.0
    /// Seconds that a program that runs to its end has.
    private static let longestRun = 600.0

    /// A program that is not started yet; `environment` is what it gets beside our own.
    convenience init(_ program: URL, _ arguments: [String], environment: [String: String] = [:]) {
        self.init()
        executableURL = program
        self.arguments = arguments
        self.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    }

    /// Starts it with no signal blocked.
    ///
    /// A child begins with the signal mask of the thread that starts it, and threads of the
    /// concurrency runtime block nearly all signals: a peer in C or Python would never see SIGTERM.
    func start() throws {
        var (none, own) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &own)
        defer { pthread_sigmask(SIG_SETMASK, &own, nil) }
        try run()
    }

    /// Asks it to end, and ends it for sure when it does not.
    func end(by signal: Int32 = SIGTERM) {
        guard isRunning else { return }
        kill(processIdentifier, signal)
        let deadline = Date(timeIntervalSinceNow: Self.patience)
        while isRunning, Date() < deadline { usleep(10_000) }
        if isRunning { kill(processIdentifier, SIGKILL) }
        waitUntilExit()
    }

    /// What it writes into a file when it is ready.
    func awaitReady(_ file: URL, within seconds: Double) throws -> String {
        let deadline = Date(timeIntervalSinceNow: seconds)
        while Date() < deadline, isRunning {
            if let text = try? String(contentsOf: file, encoding: .utf8), !text.isEmpty { return text }
            usleep(20_000)
        }
        end()
        throw BenchFailure("\(executableURL?.lastPathComponent ?? "a program") did not become ready")
    }

    /// Runs a program to its end, and kills it when that takes too long; answers what it printed.
    func finish(reading output: Pipe? = nil) throws -> [UInt8] {
        try start()
        let processID = processIdentifier
        let limit = DispatchWorkItem { kill(processID, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.longestRun, execute: limit)
        defer { limit.cancel() }
        let text = output?.fileHandleForReading.readDataToEndOfFile() ?? Data()
        waitUntilExit()
        return [UInt8](text)
    }
}

extension URL {
    /// A new folder in the system's temporary one.
    static func makeTemporaryFolder(_ name: String) throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tocsin-\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}
