import Foundation

extension Process {
    /// Seconds that a child has until it is killed.
    private static let patience = 10.0

    /// Starts it with no signal blocked.
    ///
    /// A child begins with the signal mask of the thread that starts it, and threads of the concurrency runtime block nearly
    /// all signals: a peer in C or Python would never see SIGTERM.
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

    /// Runs a program to its end, and kills it when that takes too long; answers what it printed.
    func finish(reading output: Pipe? = nil, within seconds: Double = 600) throws -> [UInt8] {
        try start()
        let processID = processIdentifier
        let limit = DispatchWorkItem { kill(processID, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: limit)
        defer { limit.cancel() }
        let text = output?.fileHandleForReading.readDataToEndOfFile() ?? Data()
        waitUntilExit()
        return [UInt8](text)
    }
}
